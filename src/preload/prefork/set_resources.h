/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptors and mappings of a set of objects. A child must keep those of the sets that it was
 * offered and release all others, since each keeps objects of the kernel alive.
 */
#pragma once

#include "preload/core/fd_table.h"

#include <stddef.h>
#include <sys/types.h>

#define WV_RESOURCES_FDS 16
#define WV_LEFT_FILES	 128

/* The kinds of mappings of a set. They are bits, so that several can be named at once. */
enum wv_range_kind {
	WV_RANGE_KERNEL = 1, /* memory of the kernel */
	WV_RANGE_IO = 2,     /* pages of the adapter, or all for which MADV_DOFORK is refused */
	WV_RANGE_QUEUES = 4, /* not of a ufile: shared memory of queues */
	WV_RANGE_UFILE = WV_RANGE_KERNEL | WV_RANGE_IO,
	WV_RANGE_ALL = WV_RANGE_UFILE | WV_RANGE_QUEUES,
};

struct wv_range {
	uintptr_t start, end;
	uint32_t kind; /* enum wv_range_kind */
};

/* A descriptor, and what tells its file from another at the same number. */
struct wv_set_file {
	int fd; /* -1: lost */
	int access;
	struct wv_fd_entry entry; /* changes if this library puts another file there */
	dev_t device;
	ino_t inode;
};

/* The owner of the set guards all this. */
struct wv_resources {
	const struct wv_fd_owner *owner; /* told when the program closes a descriptor */
	struct wv_set_file files[WV_RESOURCES_FDS];
	uint16_t n_files, n_ranges;
	bool closed;		 /* a descriptor is lost, and its number may be another's */
	bool lost;		 /* closed, or it needs more descriptors or memory than there are */
	struct wv_range *ranges; /* from malloc() */
};

/*
 * Adds a descriptor to @resources, a struct wv_resources. If it is not tracked yet, it is hidden
 * from the program. Takes the lock of the control path. Used as opened() of struct wv_maker
 * (core/scope.h).
 */
void wv_resources_opened(void *resources, int fd);

/* The same for a mapping and mapped(). It is withheld from children. */
void wv_resources_mapped(void *resources, void *at, size_t bytes, int fd);

/* Lets the next child inherit all mappings, or no child from now on. */
void wv_resources_let_inherit(const struct wv_resources *resources, bool inherit);

/* Hands the descriptors over to the program; this library tracks them no more. */
void wv_resources_give_fds(const struct wv_resources *resources);

/* The descriptors that are left: at most @most, to @fds. Returns how many. */
unsigned int wv_resources_fds(const struct wv_resources *resources, int *fds, unsigned int most);

/* Whether @fd is a descriptor of the set, which then cannot be used any more. */
bool wv_resources_lose_fd(struct wv_resources *resources, int fd);

/*
 * Whether all descriptors are still those of the set. The program may have closed them unseen by
 * this library, and other files may be at their numbers, even of other sets; these numbers are
 * lost. Ask before the set is used or ended.
 */
bool wv_resources_are_there(struct wv_resources *resources);

/* Maps private memory in place of the queues, which belong to another process. */
void wv_resources_part_from_queues(const struct wv_resources *resources);

/* Closes the descriptors that are left, and unmaps what keeps the kernel's objects alive. */
void wv_resources_drop(const struct wv_resources *resources);

/* Closes these descriptors and all between them. */
void wv_close_numbers(int first, int last);

/* Files of sets, by number, that a child closes. */
struct wv_left_files {
	const struct wv_set_file *all[WV_LEFT_FILES];
	unsigned int n; /* 0 at first */
	bool each;	/* look at each, not only at the ends of runs */
};

/*
 * In a child: unmaps the mappings of these kinds, and adds the descriptors to @files, for
 * wv_left_files_close(); closes earlier ones if @files is full. @resources must stay valid until
 * all are closed.
 * A child inherits WV_RANGE_IO of every set, and WV_RANGE_ALL of the sets that it was offered.
 */
void wv_resources_leave(const struct wv_resources *resources, unsigned int kinds,
			struct wv_left_files *files);

/*
 * Stops tracking @files, and closes them, but not those whose numbers have other files now. In the
 * child, fork() returns after this. So of a run of consecutive numbers only the two ends are looked
 * at, and the others if an end has another file: whoever closes numbers unseen by this library
 * usually closes all above or below one. That holds for sets that were looked at together; for
 * others, set @files->each.
 */
void wv_left_files_close(struct wv_left_files *files);
