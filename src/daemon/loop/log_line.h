/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A worker writes the log: the journal, or whoever reads standard error, may be slow or stopped,
 * and the loop must not wait for it.
 */
#pragma once

#include "daemon/loop/workers.h"

/* From now on wv_log() leaves its messages to a worker. 0 or -errno, and then nothing changes. */
int wv_log_line_open(struct wv_workers *workers);

/*
 * Waits until everything is written, but not for long. From then on wv_log() writes itself again.
 * Harmless if it was not opened.
 */
void wv_log_line_close(void);
