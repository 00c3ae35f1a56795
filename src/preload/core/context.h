/*
 * One opened RDMA device of this process: plain, being recorded, or answered from a lease.
 */
#pragma once

#include "cmdlog/adopt.h"
#include "cmdlog/record.h"
#include "preload/core/fd_table.h"
#include "preload/mlx5/queues.h"
#include "wire/wire.h"

#include <stdbool.h>

enum wv_mode {
	WV_PLAIN,     /* opened by the program itself; only followed for a trace */
	WV_RECORDING, /* the same, and the daemon wants to know what it does */
	WV_LEASED,    /* the ufile is the lease's */
	WV_ABANDONED, /* its objects are another process's: whatever ends them here is not done */
};

struct wv_context {
	uint8_t mode; /* enum wv_mode */
	bool stopped; /* the lease is followed no further, the recording has ended */
	bool opening; /* ibv_open_device() has not returned yet */
	bool in_set;  /* opened ahead of a child that is to have it, see preload/prefork/zygote.h */
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
	uint32_t open_number; /* the how-manieth open of this process it was */
	struct wv_lease lease;
	struct wv_lease constants; /* answers without a lease, inside ibv_open_device() */
	uint64_t put_back[WV_CMDLOG_MAX_STEPS /
			  64]; /* bit per handle of a QP, see wv_rollback_query() */
	struct wv_inheritance
	    *inheritance; /* of a lease, once forked; see preload/lease/inherit.h */
	struct wv_cmdlog_writer record;
	struct wv_allocations *allocations; /* of queues, while recording; kept for the next */
	struct wv_allocators own;	    /* of the program */
	struct ibv_context *verbs;	    /* while the program has it open, as far as we saw */
	struct ibv_cq *spares; /* of an inherited one; see preload/mlx5/doorbell_records.h */
	bool parted;	       /* the same */
	struct wv_msg_report report;
	_Alignas(8) uint8_t message[WV_WIRE_MAX]; /* the lease as received, or the recording */
};

/*
 * The lock of the control path: guards every context and the pending request. The data path never
 * takes it.
 */
void wv_lock(void);
void wv_unlock(void);

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
 * Whether another process uses it too. What was made ahead for a child is that child's alone, from
 * when it takes it (preload/prefork/child.h).
 */
static inline bool wv_context_is_shared(const struct wv_context *c)
{
	return wv_context_is_inherited(c) && !(c->in_set && c->birth + 1 == wv_births);
}

/* Whether its lease is still adopted from, or it is still recorded. */
static inline bool wv_context_is_followed(const struct wv_context *c)
{
	return !c->stopped && !wv_context_is_inherited(c);
}

/* Once per process, before the lock is taken for the first time: may take the loader's lock. */
void wv_context_prepare(void);

/* A fresh context, or NULL: too many, or no memory. Its memory is used again, never unmapped. */
struct wv_context *wv_context_new(enum wv_mode mode);
struct wv_context *wv_context_at(uint16_t index);

/*
 * Makes @fd a number of @context. On failure the number is too large to track, and stays the
 * caller's. Call with the lock held.
 */
bool wv_context_track(struct wv_context *context, int fd, enum wv_fd_kind kind, unsigned int slot);

/* The context that @fd is a command number of, or NULL. Call with the lock held. */
struct wv_context *wv_context_of(int fd);

/*
 * @fd is about to be closed or replaced: stops tracking it, and when it was the last number of a
 * ufile tells the daemon the outcome and closes what the program never asked for.
 */
void wv_context_close(int fd);

/* @copy is a new number of the same file as @fd. */
void wv_context_dup(int fd, int copy);

/* Sends the recording or the report, if there still is one to send. Call with the lock held. */
void wv_context_settle(struct wv_context *context);

/* The program's context is the lease's: its own node is not needed any more. With the lock held. */
void wv_context_keep_lease(struct wv_context *context);

/*
 * The program wants another context than the lease has, and the kernel makes only one for a ufile:
 * @fd becomes the node that the program opened itself, and the lease ends. With the lock held.
 */
void wv_context_give_back(struct wv_context *context, int fd);

/* ibv_open_device() has returned. Call with the lock held. */
void wv_context_opened(struct wv_context *context);

/*
 * All that a child is to find in the context of @fd has been made: tells the daemon, and closes
 * what the lease brought beyond it. Takes the lock.
 */
void wv_context_complete(int fd);

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

/* The how-manieth open of its process the one of @fd was. Takes the lock. */
uint32_t wv_context_open_number(int fd);

/* Before fork(), with the lock held: what is left of leases is one for parent and child. */
void wv_context_share_leases(void);

/*
 * In a forked child, with the lock held: it has the descriptors of its parent and may use them, but
 * what is left of a lease is the parent's to adopt. Both adopting the same object would be two
 * owners.
 */
void wv_context_leave_parent(void);
