/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a long-running process has to say: to the journal when standard error is the journal, else
 * to standard error. A message names the cause and, where there is one, the remedy. errno is kept.
 */
#pragma once

#include <stdint.h>
#include <syslog.h>

enum wv_log_level {
	WV_ERROR = LOG_ERR,
	WV_WARNING = LOG_WARNING,
	WV_NOTICE = LOG_NOTICE,
	WV_INFO = LOG_INFO,
	WV_DEBUG = LOG_DEBUG,
};

/* Messages above @most are not printed; before this is called, WV_NOTICE is the limit. */
void wv_log_init(enum wv_log_level most);

/* "error" ... "debug" as a level, or -EINVAL. */
int wv_log_level_parse(const char *name);

void wv_log(enum wv_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define WV_LOG_MAX 1024 /* bytes of a message, with its end mark */

/* Writes @text now, whatever its level; waits for whoever reads the log. */
void wv_log_write(enum wv_log_level level, const char *text);

typedef void (*wv_log_take_fn)(enum wv_log_level level, const char *text);

/* From now on wv_log() gives messages to @take instead of writing them; NULL: it writes them. */
void wv_log_divert(wv_log_take_fn take);

/* For messages that a stranger can provoke: at most ten in ten seconds are let through. */
struct wv_log_limit {
	int64_t start_us;
	uint32_t count;
};

/* Whether to log now, at @now_us of any steady clock. */
int wv_log_allowed(struct wv_log_limit *limit, int64_t now_us);
