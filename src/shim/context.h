/*
 * One opened RDMA device of this process: plain, being recorded, or answered from a lease.
 */
#pragma once

#include "shim/files.h"
#include "shim/queues.h"
#include "tape/adopt.h"
#include "tape/record.h"
#include "wire/wire.h"

#include <stdbool.h>

enum wv_mode {
	WV_PLAIN,     /* opened by the program itself; only followed for a trace */
	WV_RECORDING, /* the same, and the daemon wants to know what it does */
	WV_LEASED,    /* the ufile is the lease's */
};

struct wv_context {
	uint8_t mode;	   /* enum wv_mode */
	bool stopped;	   /* the lease is followed no further, the recording has ended */
	bool inherited;	   /* by fork(): what is left of the lease is the parent's */
	bool opening;	   /* ibv_open_device() has not returned yet */
	uint16_t index;	   /* in the table of contexts */
	uint16_t files;	   /* tracked numbers that lead here */
	uint16_t commands; /* of these, numbers of the ufile */
	int ufile;	   /* the number it was opened as */
	int sock;	   /* to the daemon, until the report or the recording is sent, or -1 */
	int node; /* of a lease: what the program opened itself, until GET_CONTEXT, or -1 */
	uint32_t no_lease;  /* enum wv_no_lease, 0: nobody was asked */
	uint32_t driver_id; /* of the commands so far; 0: none yet. Read without the lock */
	struct wv_build_id provider;
	uint32_t open_number; /* the how-manieth open of this process it was */
	struct wv_lease lease;
	struct wv_lease constants; /* answers without a lease, inside ibv_open_device() */
	uint64_t
	    put_back[WV_TAPE_MAX_STEPS / 64]; /* bit per handle of a QP, see wv_repair_query() */
	struct wv_inheritance *inheritance;   /* of a lease, once forked; see shim/inherit.h */
	struct wv_tape_writer record;
	struct wv_allocations *allocations; /* of queues, while recording; kept for the next */
	struct wv_allocators own;	    /* of the program */
	struct ibv_context *verbs;	    /* while the program has it open, as far as we saw */
	struct ibv_cq *spares;		    /* of an inherited one; see shim/records.h */
	bool parted;			    /* the same */
	struct wv_msg_report report;
	_Alignas(8) uint8_t message[WV_WIRE_MAX]; /* the lease as received, or the recording */
};

/*
 * The lock of the control path: guards every context and the pending request. The data path never
 * takes it.
 */
void wv_lock(void);
void wv_unlock(void);

/* Once per process, before the lock is taken for the first time: may take the loader's lock. */
void wv_context_prepare(void);

/* A fresh context, or NULL: too many, or no memory. Its memory is used again, never unmapped. */
struct wv_context *wv_context_new(enum wv_mode mode);
struct wv_context *wv_context_at(uint16_t index);

/*
 * Makes @fd a number of @context. On failure the number is too large to track, and stays the
 * caller's. Call with the lock held.
 */
bool wv_context_track(struct wv_context *context, int fd, enum wv_file_kind kind,
		      unsigned int slot);

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
