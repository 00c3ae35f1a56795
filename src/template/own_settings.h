/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process that is to be a template has of its own, but each start has of its client: so the
 * program must not have changed it before its stop point.
 */
#pragma once

/* Before the program does anything. */
void wv_own_settings_remember(void);

/* What has changed since then, for people; NULL if nothing has. */
const char *wv_own_settings_change(void);
