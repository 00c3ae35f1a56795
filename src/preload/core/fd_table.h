/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptors of this process that this library looks at, and the context or owner of each.
 *
 * The kernel reuses a number as soon as it is closed, for files of any kind. So every call that
 * ends or makes a descriptor is interposed (interpose/libc_fd.c), and untracked descriptors are not
 * touched.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WV_MAX_FD  32768 /* larger descriptors are not tracked */
#define WV_FEW_FDS 256	 /* most programs have no more: these entries cost no page of their own */

enum wv_fd_kind {
	WV_FD_NONE,
	WV_FD_COMMAND, /* the ufile */
	WV_FD_EVENTS,  /* async or completion events of a lease; has a slot */
	WV_FD_PRIVATE, /* the preload's own: the program does not know it */
};

/* Called when the program closes a descriptor that it does not know. */
struct wv_fd_owner {
	/* Before the descriptor is closed, with no lock held; may be NULL. */
	void (*closing)(int fd);
	/*
	 * When the descriptor is no longer tracked, with the lock of the control path held; may be
	 * NULL.
	 */
	void (*closed)(int fd);
};

struct wv_fd_entry {
	uint8_t kind;	  /* enum wv_fd_kind */
	uint8_t slot;	  /* EVENTS: slot of the lease; PRIVATE: index of the owner */
	uint16_t context; /* COMMAND, EVENTS: of wv_context_at(); PRIVATE: differs each time */
};

extern uint32_t wv_few_fds[WV_FEW_FDS]; /* struct wv_fd_entry, read and written as one word */
extern uint32_t *wv_more_fds;		/* the whole table, once a larger number is tracked */
extern uint32_t wv_n_fds;		/* how many descriptors are tracked */

/* The word of @fd. NULL: @fd is too large, or no large descriptor was ever tracked. */
static inline uint32_t *wv_fd_word(int fd)
{
	uint32_t *more;

	if (fd >= 0 && fd < WV_FEW_FDS)
		return &wv_few_fds[fd];
	more = __atomic_load_n(&wv_more_fds, __ATOMIC_ACQUIRE);
	return more && fd >= 0 && fd < WV_MAX_FD ? &more[fd] : NULL;
}

static inline struct wv_fd_entry wv_fd_get(int fd)
{
	union {
		uint32_t word;
		struct wv_fd_entry file;
	} u = {.word = 0};
	const uint32_t *word;

	if (!__atomic_load_n(&wv_n_fds, __ATOMIC_RELAXED))
		return u.file;
	word = wv_fd_word(fd);
	if (word)
		u.word = __atomic_load_n(word, __ATOMIC_ACQUIRE);
	return u.file;
}

/*
 * Whether these are one entry of a number. Of a private descriptor: then no other file has been
 * tracked there in between.
 */
static inline bool wv_fd_is_same(struct wv_fd_entry before, struct wv_fd_entry now)
{
	return before.kind == now.kind && before.slot == now.slot && before.context == now.context;
}

/* Whether wv_fd_track() will succeed: not if the number is too large, or there is no memory. */
bool wv_fd_can_be_tracked(int fd);

/* Starts tracking @fd. False: it cannot be tracked. */
bool wv_fd_track(int fd, struct wv_fd_entry file);

/* Stops tracking @fd. Returns its former entry. */
struct wv_fd_entry wv_fd_untrack(int fd);

/*
 * Tracks @fd as a private descriptor of @owner, which must stay valid. False: it cannot be tracked,
 * and must be closed, since the program might close it unnoticed. Call with the lock of the control
 * path held.
 */
bool wv_fd_hide(int fd, const struct wv_fd_owner *owner);

/* The owner of a private descriptor. */
const struct wv_fd_owner *wv_fd_owner(struct wv_fd_entry file);

/* Closes *@fd, which is private, and sets it to -1. Does nothing if it is -1. */
void wv_fd_close_private(int *fd);

/*
 * Whether this process can open several more descriptors, so that libibverbs finds enough to list
 * and open devices: the highest numbers that the limit allows are free. Says no in a program that
 * uses one of these, however many of the others are free. Opens nothing. Call with the lock of the
 * control path held.
 */
bool wv_fds_are_plenty(void);

/*
 * Whether as many numbers lie between @fd, the highest of some new descriptors, and the limit that
 * wv_fds_are_plenty() found. The kernel gives the lowest free number, so most of them are free.
 */
bool wv_fd_is_far_from_limit(int fd);
