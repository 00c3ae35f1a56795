/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/* This thread may be the first of its process, as in a forked child. */
void wv_exit_watch_thread(void);
