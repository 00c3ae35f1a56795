/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The conventions every file of warmverbs obeys.
 *
 * Errors: a function that can fail returns int. Zero is success; a negative value is -errno and is
 * passed up untouched; a positive value is a named outcome that the direct caller must handle (an
 * enum beside the function). Verbs and interposed libc calls convert once, in the outermost
 * function, to what libibverbs or libc would have returned.
 *
 * Ownership: a local that owns a descriptor or memory carries one of the attributes below; handing
 * it on is written with the steal functions, so that who closes is visible at the place it changes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WV_PUBLIC	 __attribute__((visibility("default")))
#define WV_ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define WV_ALIGN8(n)	 (((n) + 7u) & ~7u)
/* The struct of @type whose @member is at @pointer. */
#define WV_OWNER(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
/*
 * Used at the start or at the end of every program: next to what the loader writes there anyway,
 * and so not in .bss, even if they are zero. A page of their own would cost each start two page
 * faults.
 */
#define WV_START __attribute__((section(".data.wv_start")))
/*
 * Texts that every program needs at its start. Next to constants with addresses, which the loader
 * writes in any program: other texts are on a page of their own, and would cost each start a page
 * fault.
 */
#define WV_NAMES __attribute__((section(".data.rel.ro.wv_names")))
/*
 * Written around every fork: together, since each page that is written to after one is copied. All
 * zero at the start, and next to the small variables that a child writes to as well.
 */
#define WV_HOT __attribute__((section(".bss.hot")))
/*
 * Large, and mostly never touched. The linker puts these behind all small variables, in the order
 * of @rank (--sort-section=name): what every program writes to then shares few pages, each of which
 * costs a page fault.
 */
#define WV_COLD(rank) __attribute__((section(".bss.wv_cold" #rank)))
/* For functions that sanitizers call before instrumented code can run. */
#define WV_UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))
#define wv_cleanup(f)  __attribute__((cleanup(f)))

static inline void wv_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void wv_close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void wv_free_ptr(void *p)
{
	free(*(void **)p);
}

static inline int wv_steal_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline size_t wv_page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* @bytes rounded up to whole pages. */
static inline size_t wv_whole_pages(size_t bytes)
{
	return (bytes + wv_page_size() - 1) & ~(wv_page_size() - 1);
}

#define wv_auto_fd   wv_cleanup(wv_close_fd) int
#define wv_auto_file wv_cleanup(wv_close_file) FILE *
#define wv_auto_free wv_cleanup(wv_free_ptr)

/* Copies @from with its end mark. False, and nothing copied, if @capacity is too small. */
static inline bool wv_copy_string(char *to, size_t capacity, const char *from)
{
	size_t bytes = strlen(from) + 1;

	if (bytes > capacity)
		return false;
	memcpy(to, from, bytes);
	return true;
}

/* 64-bit FNV-1a: names recipes and argument vectors, not a defence against anybody. */
static inline uint64_t wv_hash(uint64_t hash, const void *data, size_t bytes)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3ull;
	return hash;
}
#define WV_HASH_START 0xcbf29ce484222325ull

/* The same for an argument vector, or the rest of one; NULL is an empty one. */
static inline uint64_t wv_hash_argv(uint64_t hash, char *const *argv)
{
	for (; argv && *argv; argv++)
		hash = wv_hash(hash, *argv, strlen(*argv) + 1);
	return hash;
}
