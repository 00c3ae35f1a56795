/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One opened RDMA device of this process: plain, being recorded, or answered from a lease.
 * preload/lease decides what that means for its commands.
 */
#pragma once

#include "abi/qp.h"
#include "cmdlog/adopt.h"
#include "cmdlog/record.h"
#include "preload/core/fd_table.h"
#include "preload/core/lock.h"
#include "preload/core/provider.h"
#include "preload/core/scope.h"
#include "wire/pair.h"

#include <stdbool.h>
#include <time.h>

#define WV_MAX_CONTEXTS 256

enum wv_mode {
	WV_PLAIN,     /* opened by the program itself; tracked only for a trace */
	WV_RECORDING, /* the same, and its commands are recorded for the daemon */
	WV_LEASED,    /* the ufile belongs to a lease */
	WV_ABANDONED, /* its objects belong to another process: destroy commands are not issued */
};

/*
 * How far the program is with a queue pair of its lease that the daemon has connected to a peer
 * (pairs/paired.h).
 */
enum wv_pair_stage {
	WV_PAIR_OVER,  /* there is none, or the program goes its own way */
	WV_PAIR_APART, /* the program has not connected it; its peer may be connected to it */
	WV_PAIR_MET,   /* the program has moved it to RTR, towards that peer */
};

struct wv_pair_progress {
	uint8_t stage; /* enum wv_pair_stage */
	bool gone;     /* the peer is no part of the pair any more */
	bool told;     /* the daemon knows how the program has connected it */
	uint16_t why;  /* enum wv_pair_why: why the program did not connect it as it was */
};

/* What has become of the queue pairs of a lease. */
struct wv_lease_qps {
	uint64_t put_back[WV_CMDLOG_MAX_STEPS / 64]; /* bit per handle: the QP was put back */
	struct wv_pair_progress progress;	     /* with the pair of the lease */
};

/* The pair of a lease: its queue pair is connected already (pairs/paired.h). */
struct wv_context_pair {
	uint64_t id;		/* 0: none, or none any more */
	struct wv_qp_peer peer; /* its other end */
	uint32_t qp;		/* handle of its queue pair */
	bool came;		/* with the lease, whatever has become of it */
	int sock; /* the former sock: its end would say that the pair has no program; or -1 */
	uint64_t cookie; /* of the connection */
	/*
	 * Tells the daemon that the program keeps the pair. Called before the program closes the
	 * connection; where it has replaced the connection already, this says nothing.
	 */
	void (*closed)(struct wv_context *c, int sock);
	struct wv_ring ring; /* its receives, if RESET drops them */
};

struct wv_context {
	uint8_t mode;	   /* enum wv_mode */
	bool stopped;	   /* nothing more is adopted from the lease, or recorded */
	bool opening;	   /* ibv_open_device() has not returned yet */
	bool removed;	   /* EIO came: the device is gone (ib_uverbs_ioctl()) */
	bool many_threads; /* may use it (lease/one_thread.h). Read without the lock */
	bool connected;	   /* a QP has a peer */
	bool uses_tickets; /* other than for its children (stock/tickets.h) */
	bool due;	   /* the daemon is to be told as soon as no peer waits (lease/news.h) */
	uint16_t files;	   /* tracked descriptors of this context */
	uint16_t commands; /* how many of these are the ufile */
	uint32_t birth;	   /* wv_births of the process that opened it */
	int ufile;	   /* the descriptor that it was opened as */
	int sock;	   /* to the daemon, or -1 once it knows all */
	int node; /* of a lease: the node that the program opened itself; -1 after GET_CONTEXT */
	uint32_t no_lease;  /* enum wv_no_lease; 0: the daemon was not asked */
	uint32_t driver_id; /* from the commands so far; 0: none yet. Read without the lock */
	struct wv_build_id provider;
	uint32_t open_number; /* 0 for the first device that this process opened */
	/*
	 * If a context was made ahead for a child (scope.h): told when the program closes one of
	 * its descriptors.
	 */
	const struct wv_fd_owner *owner;
	void (*end)(struct wv_context *c); /* last command descriptor gone; with the lock held */
	struct wv_lease lease;
	struct wv_lease *constants; /* answers inside ibv_open_device(), without a lease; or NULL */
	struct wv_lease_qps own_qps, *qps;  /* these, or those that all processes share */
	struct wv_inheritance *inheritance; /* of a lease, after a fork; see lease/inherit.h */
	uint64_t moved[WV_CMDLOG_MAX_STEPS / 64]; /* bit per handle: the kernel moved the QP */
	unsigned int unsent;	   /* steps of the recording, or divergences, that were not sent */
	uint32_t data;		   /* bytes for data that a lease has or could have */
	unsigned int late_objects; /* while recording: created since the first connection */
	time_t connected_s;	   /* while recording: CLOCK_MONOTONIC then */
	struct wv_cmdlog_writer record;
	struct ibv_context *verbs;  /* while the program has it open, if known */
	struct wv_tickets *tickets; /* of its spares (stock/tickets.h); or NULL */
	struct wv_context_pair pair;
	struct wv_msg_report report;

	/* All before this is zeroed for a new context in the same place (wv_context_new()). */
	uint16_t index;	 /* in the table of contexts */
	uint32_t spares; /* queue pairs of it that came from spares. Written without the lock */
	struct wv_allocations *allocations;	  /* of queues, while recording */
	struct wv_connecting *connecting;	  /* for the daemon (pairs/connections.h) */
	_Alignas(8) uint8_t message[WV_WIRE_MAX]; /* the lease as received, or the recording */
};

/*
 * The number of forks between this process and the one that loaded the library. It tells which
 * process opened a context without writing to the context, since a child copies each page that it
 * writes to.
 */
extern uint32_t wv_births;

/* Whether a parent opened the context: only the parent may adopt what is left of its lease. */
static inline bool wv_context_is_inherited(const struct wv_context *c)
{
	return c->birth != wv_births;
}

/*
 * Whether another process uses the context too. A context that was made ahead for a child is used
 * by that child alone once the child has claimed it.
 */
static inline bool wv_context_is_shared(const struct wv_context *c)
{
	return wv_context_is_inherited(c) && !(c->owner && c->birth + 1 == wv_births);
}

/* Whether the context still adopts from its lease, or is still recorded. */
static inline bool wv_context_is_followed(const struct wv_context *c)
{
	return !c->stopped && !wv_context_is_inherited(c);
}

/*
 * A plain context for a thread in @scope. NULL: there are too many, or no memory. @end is called
 * when the last command descriptor of the context is closed. The memory is used again, and never
 * unmapped. Call with the lock held.
 */
struct wv_context *wv_context_new(const struct wv_scope *scope, void (*end)(struct wv_context *c));

/* The context at @index, which must exist. */
struct wv_context *wv_context_at(uint16_t index);

/* The context after @c, or the first one if @c is NULL. NULL after the last. */
struct wv_context *wv_context_after(const struct wv_context *c);

/* Loops over all contexts that were ever in use; those without files are not in use now. */
#define wv_each_context(c)                                                                         \
	for (struct wv_context *c = wv_context_after(NULL); c; c = wv_context_after(c))

/*
 * Tracks @fd as a descriptor of @context. False: the number is too large to track, and @fd stays
 * the caller's. Call with the lock held.
 */
bool wv_context_track(struct wv_context *context, int fd, enum wv_fd_kind kind, unsigned int slot);

/*
 * The context whose command descriptor @fd is, or NULL. Without the lock, another thread may close
 * @fd meanwhile: the memory of the context stays, but may already serve another device.
 */
struct wv_context *wv_context_of(int fd);

/* Hides @fd, the sock or the node of a context, from the program. Call with the lock held. */
void wv_context_hide_fd(int fd);

/*
 * @fd is about to be closed or replaced: stops tracking it, and ends its context if @fd was the
 * last command descriptor. Takes the lock.
 */
void wv_context_close(int fd);

/* Whether the owner of @fd is to be told before the program closes or replaces it. */
bool wv_context_is_watched(int fd);

/* close() for the owner of @fd, which is watched until it is closed. Takes the lock. */
int wv_context_close_watched(int fd);

/*
 * The kernel has just given out the number @fd, by a command on @by. So nobody else has that
 * number: whoever had it has lost it, closed unseen by this library. Does nothing if @by is a
 * command descriptor, and @fd an event file of its context: such a file of a lease has its number
 * before the program's own command. Takes the lock.
 */
void wv_context_lose_number(int fd, int by);

/* @copy is a new descriptor of the same file as @fd. Takes the lock. */
void wv_context_dup(int fd, int copy);

/* ibv_open_device() has returned. Call with the lock held. */
void wv_context_opened(struct wv_context *context);

/*
 * The objects of @fd's context belong to a child now: its commands are no longer passed to the
 * kernel but answered as if they succeeded, so that the provider can free its memory in this
 * process. Takes the lock.
 */
void wv_context_abandon(int fd);

/* What is known of the context of a command descriptor; all zero: it is none. */
struct wv_context_facts {
	bool is_seen;	      /* no other library interposes ioctl() before this one */
	bool is_own;	      /* this process opened it */
	uint32_t open_number; /* which open of a device it was in its process, from 0 */
};

/* Takes the lock. */
struct wv_context_facts wv_context_facts(int fd);

/* The driver of @fd's context; RDMA_DRIVER_UNKNOWN if it is not known. */
uint32_t wv_context_driver(int fd);

/*
 * In a forked child, with the lock held. The child has its parent's descriptors and may use them,
 * but only the parent may adopt what is left of a lease: two owners must not adopt the same object.
 */
void wv_contexts_forked(void);
