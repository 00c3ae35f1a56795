/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/trace_file.h"

#include "base/base.h"

#include <errno.h>
#include <sys/stat.h>

static int by_start(const void *a, const void *b)
{
	const struct wv_trace *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int read_all(int fd, void *data, size_t bytes)
{
	for (size_t at = 0; at < bytes;) {
		ssize_t got = pread(fd, (uint8_t *)data + at, bytes - at, (off_t)at);

		if (got <= 0)
			return got < 0 ? -errno : -EPROTO;
		at += (size_t)got;
	}
	return 0;
}

int wv_trace_read(int fd, struct wv_trace **records, size_t *n)
{
	wv_auto_free struct wv_trace *read = NULL;
	struct stat st;
	int err;

	if (fstat(fd, &st))
		return -errno;
	/* A program that is killed during a write leaves a partial record at the end. */
	*n = (size_t)st.st_size / sizeof(*read);
	read = calloc(*n + 1, sizeof(*read));
	if (!read)
		return -ENOMEM;
	err = read_all(fd, read, *n * sizeof(*read));
	if (err)
		return err;
	for (size_t i = 0; i < *n; i++)
		if (read[i].magic != WV_TRACE_MAGIC)
			return -EPROTO;
	qsort(read, *n, sizeof(*read), by_start);
	*records = read;
	read = NULL;
	return 0;
}
