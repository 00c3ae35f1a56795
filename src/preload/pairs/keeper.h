/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worker that listens to the daemon and reserves spares for clients. It calls no verb.
 * There is none in a process without spares and pairs, or whose daemon wants no pairs.
 */
#pragma once

struct wv_worker;

/*
 * Starts it if it does not run and the daemon wants pairs. @maker makes the spares. Call with no
 * lock held.
 */
void wv_keeper_start(struct wv_worker *maker);
