/* SPDX-License-Identifier: BSD-2-Clause */
#include "shared.h"

#include "next.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOWEST_FD 48 /* as in rpc.c */

/* A mapping, and the descriptor by which it is found. */
struct shared {
	LIST_ENTRY(shared) of_all;
	void *at;
	size_t length;
	int fd;
	ino_t inode;
};

static LIST_HEAD(, shared) all = LIST_HEAD_INITIALIZER(all);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What a thread that holds the lock had before: it must not be cancelled, nor fork in a handler. */
static __thread struct {
	sigset_t signals;
	int cancel_state;
} before;

static void acquire(void)
{
	sigset_t all_signals, signals;
	int cancel_state;

	sigfillset(&all_signals);
	pthread_sigmask(SIG_SETMASK, &all_signals, &signals);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_mutex_lock(&lock);
	before.signals = signals;
	before.cancel_state = cancel_state;
}

static void release(void)
{
	sigset_t signals = before.signals;
	int cancel_state = before.cancel_state;

	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(cancel_state, NULL);
	pthread_sigmask(SIG_SETMASK, &signals, NULL);
}

/* Registered before all others, so that this prepare handler runs last: others may map memory. */
__attribute__((constructor)) static void register_fork(void)
{
	pthread_atfork(acquire, release, release);
}

static int make_file(size_t length)
{
	int low = memfd_create("shared", MFD_CLOEXEC);
	int fd = low < 0 ? -1 : NEXT(fcntl)(low, F_DUPFD_CLOEXEC, LOWEST_FD);

	if (low >= 0)
		NEXT(close)(low);
	if (fd >= 0 && ftruncate(fd, (off_t)length) < 0) {
		NEXT(close)(fd);
		fd = -1;
	}
	return fd;
}

static void keep(void *at, size_t length, int fd)
{
	struct shared *shared = malloc(sizeof(*shared));
	struct stat st;

	if (!shared || NEXT(fstat)(fd, &st)) {
		free(shared);
		NEXT(close)(fd);
		return;
	}
	*shared = (struct shared){.at = at, .length = length, .fd = fd, .inode = st.st_ino};
	acquire();
	LIST_INSERT_HEAD(&all, shared, of_all);
	release();
}

void *standin_map_shared(void *at, size_t length, int prot, int flags)
{
	int fd = make_file(length);
	void *mapped;

	if (fd < 0)
		return NEXT(mmap)(at, length, prot, flags, -1, 0);
	mapped = NEXT(mmap)(at, length, prot, flags & ~MAP_ANONYMOUS, fd, 0);
	if (mapped == MAP_FAILED)
		NEXT(close)(fd);
	else
		keep(mapped, length, fd);
	return mapped;
}

/* The program may have closed this descriptor and opened another file with the same number. */
static void drop(struct shared *shared)
{
	struct stat st;

	LIST_REMOVE(shared, of_all);
	if (!NEXT(fstat)(shared->fd, &st) && st.st_ino == shared->inode)
		NEXT(close)(shared->fd);
	free(shared);
}

void standin_forget_shared(void *at, size_t length)
{
	struct shared *shared, *next;

	acquire();
	for (shared = LIST_FIRST(&all); shared; shared = next) {
		next = LIST_NEXT(shared, of_all);
		if (shared->at >= at && (char *)shared->at + shared->length <= (char *)at + length)
			drop(shared);
	}
	release();
}
