/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A thread that writes the log: the journal, or whoever reads standard error, may be slow or
 * stopped, and the loop must not wait for it.
 */
#pragma once

/* From now on wv_log() leaves its messages to the thread. 0 or -errno, and then nothing changes. */
int wv_log_thread_start(void);

/*
 * Waits until everything is written, but not for long. From then on wv_log() writes itself again.
 * Harmless if the thread was not started.
 */
void wv_log_thread_stop(void);
