/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/proc_file.h"

#include "base/base.h"

#include <fcntl.h>

bool wv_proc_read(int proc, const char *name, char *text, size_t capacity)
{
	wv_auto_fd fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, capacity); /* all of it: proc(5) */

	if (n == (ssize_t)capacity)
		return false;
	text[n < 0 ? 0 : n] = '\0';
	return true;
}

const char *wv_status_line(const char *status, const char *name, size_t *bytes)
{
	size_t length = strlen(name);

	for (const char *at = status; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, name, length) && at[length] == ':') {
			*bytes = strcspn(at, "\n");
			return at;
		}
	}
	return NULL;
}

bool wv_status_number(const char *status, const char *name, int base, uint64_t *value)
{
	size_t bytes;
	const char *at = wv_status_line(status, name, &bytes);

	if (at)
		*value = strtoull(at + strlen(name) + 1, NULL, base);
	return at;
}

uint64_t wv_stat_field(const char *stat, int field)
{
	const char *at = strrchr(stat, ')'); /* the second field, a name, may have others */

	for (int i = 2; at && i < field; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}
