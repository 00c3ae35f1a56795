/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/* In a forked child: this thread is its first. */
void wv_exit_watch_thread(void);
