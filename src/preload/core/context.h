/*
 * One opened RDMA device of this process: plain, being recorded, or answered from a lease. What
 * that means for its commands is the business of preload/lease.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "cmdlog/allocations.h"
#include "cmdlog/writer.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/core/scope.h"
#include "wire/wire.h"

#include <stdbool.h>

#define WV_MAX_CONTEXTS 256

enum wv_mode {
	WV_PLAIN,     /* opened by the program itself; only followed for a trace */
	WV_RECORDING, /* the same, and the daemon wants to know what it does */
	WV_LEASED,    /* the ufile is the lease's */
	WV_ABANDONED, /* its objects are another process's: destroy commands are not issued */
};

struct wv_context {
	uint8_t mode;	   /* enum wv_mode */
	bool stopped;	   /* the lease is followed no further, the recording has ended */
	bool opening;	   /* ibv_open_device() has not returned yet */
	bool connected;	   /* a QP has a peer: the report or the recording is due */
	uint16_t index;	   /* in the table of contexts */
	uint16_t files;	   /* tracked numbers that lead here */
	uint16_t commands; /* of these, numbers of the ufile */
	uint32_t birth;	   /* wv_births of the process that opened it */
	int ufile;	   /* the number it was opened as */
	int sock;	   /* to the daemon, until the report or the recording is sent, or -1 */
	int node; /* of a lease: what the program opened itself, until GET_CONTEXT, or -1 */
	uint32_t no_lease;  /* enum wv_no_lease, 0: nobody was asked */
	uint32_t driver_id; /* of the commands so far; 0: none yet. Read without the lock */
	struct wv_build_id provider;
	uint32_t open_number; /* 0 for the first device that this process opened */
	/* Of a context that was made ahead for a child (scope.h): who is told of its descriptors.
	 */
	const struct wv_fd_owner *owner;
	void (*end)(struct wv_context *c); /* the last command number is gone; with the lock held */
	struct wv_lease lease;
	struct wv_lease constants; /* answers without a lease, inside ibv_open_device() */
	uint64_t put_back[WV_CMDLOG_MAX_STEPS / 64]; /* bit per handle of a QP put back to RESET */
	struct wv_inheritance *inheritance;	     /* of a lease, once forked; lease/inherit.h */
	struct wv_cmdlog_writer record;
	struct wv_allocations *allocations; /* of queues, while recording; kept for the next */
	struct ibv_context *verbs;	    /* while the program has it open, as far as we saw */
	struct wv_msg_report report;
	_Alignas(8) uint8_t message[WV_WIRE_MAX]; /* the lease as received, or the recording */
};

/*
 * How many forks lie between this process and the one that loaded the library: says of a context
 * whose it is without writing to it, since each page that a child writes to is copied first.
 */
extern uint32_t wv_births;

/* Whether a parent opened it: what is left of its lease is the parent's. */
static inline bool wv_context_is_inherited(const struct wv_context *c)
{
	return c->birth != wv_births;
}

/*
 * Whether another process uses it too. What was made ahead for a child is that child's alone from
 * the moment it takes it.
 */
static inline bool wv_context_is_shared(const struct wv_context *c)
{
	return wv_context_is_inherited(c) && !(c->owner && c->birth + 1 == wv_births);
}

/* Whether its lease is still adopted from, or it is still recorded. */
static inline bool wv_context_is_followed(const struct wv_context *c)
{
	return !c->stopped && !wv_context_is_inherited(c);
}

/*
 * A plain context for a thread in @scope, or NULL: too many, or no memory. @end is called when its
 * last command number is closed. Its memory is used again, never unmapped. Call with the lock held.
 */
struct wv_context *wv_context_new(const struct wv_scope *scope, void (*end)(struct wv_context *c));

/* The context with that index, which must exist. */
struct wv_context *wv_context_at(uint16_t index);

/* The context after @c, the first one if that is NULL; NULL after the last. */
struct wv_context *wv_context_after(const struct wv_context *c);

/* Loops over all contexts that ever were; those without files are not in use. */
#define wv_each_context(c)                                                                         \
	for (struct wv_context *c = wv_context_after(NULL); c; c = wv_context_after(c))

/*
 * Makes @fd a number of @context. On failure the number is too large to track, and stays the
 * caller's. Call with the lock held.
 */
bool wv_context_track(struct wv_context *context, int fd, enum wv_fd_kind kind, unsigned int slot);

/* The context that @fd is a command number of, or NULL. Call with the lock held. */
struct wv_context *wv_context_of(int fd);

/* @fd, which is the sock or the node of a context, is private. Call with the lock held. */
void wv_context_hide_fd(int fd);

/*
 * @fd is about to be closed or replaced: stops tracking it, and ends its context if it was the last
 * number of a ufile. Takes the lock.
 */
void wv_context_close(int fd);

/* @copy is a new number of the same file as @fd. Takes the lock. */
void wv_context_dup(int fd, int copy);

/* ibv_open_device() has returned. Call with the lock held. */
void wv_context_opened(struct wv_context *context);

/*
 * The objects of @fd's context are a child's now: commands are no longer given to the kernel but
 * answered as if they succeeded, so that the provider can free what it has here. Takes the lock.
 */
void wv_context_abandon(int fd);

/*
 * Whether commands of @fd come by here. They do not if another library answers ioctl() before ours.
 * Takes the lock.
 */
bool wv_context_is_seen(int fd);

/* Which open of a device of its process the one of @fd was, from 0. Takes the lock. */
uint32_t wv_context_open_number(int fd);

/*
 * In a forked child, with the lock held: it has the descriptors of its parent and may use them, but
 * what is left of a lease is the parent's to adopt, since two owners must not adopt the same
 * object.
 */
void wv_contexts_forked(void);
