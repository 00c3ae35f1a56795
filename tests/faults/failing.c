/* SPDX-License-Identifier: BSD-2-Clause */
#include "failing.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <pwd.h>
#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static uint32_t due;			 /* number of the allocation that fails; 0: none */
static uint32_t own, *counter = &own;	 /* allocations so far */
static uintptr_t from, to = UINTPTR_MAX; /* code whose allocations count */

/* Not yet while libc, or a sanitizer, makes a thread ready, which cannot do without. */
static __thread bool counts;

void failing_begin(uint32_t n)
{
	counts = true;
	__atomic_store_n(counter, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&due, n, __ATOMIC_RELAXED);
}

bool failing_end(void)
{
	uint32_t n = __atomic_exchange_n(&due, 0, __ATOMIC_RELAXED);

	return __atomic_load_n(counter, __ATOMIC_RELAXED) >= n;
}

void failing_share(uint32_t *shared, uint32_t n)
{
	counts = true;
	counter = shared;
	__atomic_store_n(&due, n, __ATOMIC_RELAXED);
}

static int take_code(struct dl_phdr_info *object, size_t bytes, void *part)
{
	(void)bytes;
	if (!strstr(object->dlpi_name, part))
		return 0;
	for (unsigned int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		from = object->dlpi_addr + segment->p_vaddr;
		to = from + segment->p_memsz;
	}
	return 1;
}

void failing_only_by(const char *part)
{
	to = 0;
	dl_iterate_phdr(take_code, (void *)part);
}

/* Counts an allocation by code at @caller. True: it fails. */
static bool fails(const void *caller)
{
	uint32_t n = __atomic_load_n(&due, __ATOMIC_RELAXED);

	if (!n || !counts || (uintptr_t)caller < from || (uintptr_t)caller >= to ||
	    __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED) != n)
		return false;
	errno = ENOMEM;
	return true;
}

/* The next object's function of that name: libc's, or a sanitizer's. */
#define NEXT(name)                                                                                 \
	({                                                                                         \
		static __typeof__(&name) next_;                                                    \
		if (!next_)                                                                        \
			next_ = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                        \
		next_;                                                                             \
	})

#define FAILS	fails(__builtin_return_address(0))
#define VISIBLE __attribute__((visibility("default")))

VISIBLE void *malloc(size_t bytes)
{
	return FAILS ? NULL : NEXT(malloc)(bytes);
}

VISIBLE void *calloc(size_t n, size_t bytes)
{
	return FAILS ? NULL : NEXT(calloc)(n, bytes);
}

VISIBLE void *realloc(void *memory, size_t bytes)
{
	return FAILS ? NULL : NEXT(realloc)(memory, bytes);
}

VISIBLE void *reallocarray(void *memory, size_t n, size_t bytes)
{
	return FAILS ? NULL : NEXT(reallocarray)(memory, n, bytes);
}

VISIBLE int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
	return FAILS ? ENOMEM : NEXT(posix_memalign)(memory, alignment, bytes);
}

/* It allocates the new member of the tree. */
VISIBLE void *tsearch(const void *key, void **tree, int (*compare)(const void *, const void *))
{
	return FAILS ? NULL : NEXT(tsearch)(key, tree, compare);
}

struct thread {
	void *(*start)(void *);
	void *arg;
};

static void *run(void *arg)
{
	struct thread thread = *(struct thread *)arg;

	free(arg);
	counts = true;
	return thread.start(thread.arg);
}

VISIBLE int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*start)(void *),
			   void *arg)
{
	struct thread *copy = FAILS ? NULL : NEXT(malloc)(sizeof(*copy));
	int err;

	if (!copy)
		return EAGAIN;
	*copy = (struct thread){start, arg};
	err = NEXT(pthread_create)(thread, attr, run, copy);
	if (err)
		free(copy);
	return err;
}

/* glibc's cannot do without: it asserts that there is memory, or follows a null pointer (2.36). */
VISIBLE struct passwd *getpwuid(uid_t uid)
{
	uint32_t n = __atomic_exchange_n(&due, 0, __ATOMIC_RELAXED);
	struct passwd *user = NEXT(getpwuid)(uid);

	__atomic_store_n(&due, n, __ATOMIC_RELAXED);
	return user;
}
