/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks of the test programs in C: a failed one says where and what, and exits with 1. */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noreturn, format(printf, 3, 4))) static inline void
give_up(const char *file, int line, const char *format, ...)
{
	const char *slash = strrchr(file, '/');
	va_list args;

	fflush(stdout);
	fprintf(stderr, "FAIL %s:%d: ", slash ? slash + 1 : file, line);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(1);
}

/* A verb that returns 0 or an errno value, or -1 and sets errno. */
#define OK(call)                                                                                   \
	do {                                                                                       \
		int ok_ = (call);                                                                  \
		if (ok_)                                                                           \
			give_up(__FILE__, __LINE__, "%s: %s", #call,                               \
				strerror(ok_ > 0 ? ok_ : errno));                                  \
	} while (0)

/* A verb that returns an object, or NULL and sets errno. */
#define MADE(call)                                                                                 \
	({                                                                                         \
		__typeof__(call) made_ = (call);                                                   \
		if (!made_)                                                                        \
			give_up(__FILE__, __LINE__, "%s: %s", #call, strerror(errno));             \
		made_;                                                                             \
	})

/* A system call that returns a count or a descriptor, or -1 and sets errno. */
#define DONE(call)                                                                                 \
	({                                                                                         \
		__typeof__(call) done_ = (call);                                                   \
		if (done_ < 0)                                                                     \
			give_up(__FILE__, __LINE__, "%s: %s", #call, strerror(errno));             \
		done_;                                                                             \
	})

#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			give_up(__FILE__, __LINE__, "not so: %s (errno: %s)", #condition,          \
				strerror(errno));                                                  \
	} while (0)
