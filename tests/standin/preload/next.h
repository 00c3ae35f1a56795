/* SPDX-License-Identifier: BSD-2-Clause */
/* The next definition of a function that this library defines too. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STANDIN_PUBLIC __attribute__((visibility("default")))

/* Finds it once; @slot remembers. */
void *standin_next(void **slot, const char *name);

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static void *slot;                                                                 \
		(__typeof__(&name))standin_next(&slot, #name);                                     \
	})

/*
 * As NEXT(name)() of close(2) and fcntl(2), but past the library under test, too: it may call this
 * one with a lock held that it needs there. A kernel calls no function of a library.
 */
static inline void standin_close(int fd)
{
	syscall(SYS_close, fd);
}

static inline int standin_fcntl(int fd, int command, int argument)
{
	return (int)syscall(SYS_fcntl, fd, command, argument);
}

/* False without a server: then each function here only calls the next definition. */
bool standin_active(void);
