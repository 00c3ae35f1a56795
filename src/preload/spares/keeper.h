/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that listens to the daemon and has spares connected to the queue pairs of clients. A
 * process without spares, or whose daemon wants no pairs, has no such thread.
 */
#pragma once

/* Starts the thread if it does not run. Call with the maker's lock held, which a fork takes. */
void wv_keeper_start(void);

/* Nothing is said or made any more: the process ends, or enters a sandbox. */
void wv_keeper_stop(void);

/* In a forked child, with the lock of the control path held: the thread is the parent's. */
void wv_keeper_forked(void);
