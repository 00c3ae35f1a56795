/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include "base/base.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>

#define LIMIT_MESSAGES	10
#define LIMIT_WINDOW_US 10000000

static const char *const names[] = {
    [WV_ERROR] = "error", [WV_WARNING] = "warning", [WV_NOTICE] = "notice",
    [WV_INFO] = "info",	  [WV_DEBUG] = "debug",
};

static enum wv_log_level most_verbose = WV_NOTICE;
static bool to_journal;
static _Atomic(wv_log_take_fn) diverted;

/* systemd says which file the journal's end of standard error is; a redirection changes it. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

void wv_log_init(enum wv_log_level most)
{
	most_verbose = most;
	to_journal = stderr_is_journal();
}

int wv_log_level_parse(const char *name)
{
	for (unsigned int i = WV_ERROR; i < WV_ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return (int)i;
	return -EINVAL;
}

void wv_log_write(enum wv_log_level level, const char *text)
{
	if (to_journal)
		sd_journal_send("MESSAGE=%s", text, "PRIORITY=%d", (int)level, NULL);
	else
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, names[level], text);
}

void wv_log_divert(wv_log_take_fn take)
{
	diverted = take;
}

void wv_log(enum wv_log_level level, const char *format, ...)
{
	int saved = errno;
	wv_log_take_fn take = diverted;
	char text[WV_LOG_MAX];
	va_list args;

	if (level > most_verbose)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (take)
		take(level, text);
	else
		wv_log_write(level, text);
	errno = saved;
}

int wv_log_allowed(struct wv_log_limit *limit, int64_t now_us)
{
	if (!limit->start_us || now_us - limit->start_us > LIMIT_WINDOW_US)
		*limit = (struct wv_log_limit){.start_us = now_us};
	return limit->count++ < LIMIT_MESSAGES;
}
