/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warmverbs: faster start for RDMA programs.
 *
 * No program needs this header: warmverbs serves a program as it is, under LD_PRELOAD or linked
 * with -lwarmverbs in front of -libverbs. These functions are for programs that ask how they are
 * served, or that request leases or sets in advance. A program finds them by linking, by dlsym(3),
 * or by a weak reference, which is NULL if the library was not preloaded. If a program is linked
 * with the library and the library is preloaded too, there is one state only.
 *
 * Functions that can fail return 0 or, as verbs do, a positive errno value. They do not change
 * errno. All functions may be called from any thread at any time.
 *
 * Structures may grow at their end. The argument `size` is the sizeof() of the structure that the
 * caller was compiled with. Members that the library in use does not know are set to 0.
 */
#ifndef WARMVERBS_H
#define WARMVERBS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * wv_version - the version of the library in use
 *
 * Returns a static string of the form "MAJOR.MINOR.PATCH", never NULL.
 */
const char *wv_version(void);

/* What this process knows of the daemon. */
enum wv_daemon {
	WV_DAEMON_UNKNOWN,  /* no sign of a daemon, or not looked for yet */
	WV_DAEMON_KNOWN,    /* a daemon runs or ran on this node, but has not answered yet */
	WV_DAEMON_ANSWERED, /* the daemon answered */
	WV_DAEMON_GONE,	    /* the daemon did not answer in time; no more lease requests */
};

/* Why a device was not opened from a lease; wv_reason_str() returns the reason in words. */
enum wv_reason {
	WV_REASON_NONE,	      /* it was opened from a lease */
	WV_REASON_NOT_OPENED, /* this process has opened no device yet */
	WV_REASON_DISABLED,   /* WARMVERBS_DISABLE is set */
	WV_REASON_NOT_WANTED, /* WARMVERBS_LEASE is 0 */
	WV_REASON_DRIVERS,    /* IBV_DRIVERS or RDMAV_DRIVERS is set */
	WV_REASON_QUEUES,     /* the environment chooses the memory of mlx5 queues */
	WV_REASON_NO_DAEMON,  /* there is no daemon, or it did not answer in time */
	WV_REASON_PROVIDER,   /* the device's provider is not known */
	WV_REASON_RECORDED,   /* the daemon does not know the program: this run is recorded */
	WV_REASON_EMPTY,      /* the daemon knows the program, but had no lease ready */
	WV_REASON_DENIED,     /* the daemon does not know the device, or a limit was reached */
	WV_REASON_UNFIT,      /* this program or this device gets no lease */
};

/* What this process has from warmverbs now. */
struct wv_status {
	uint32_t enabled; /* 0: WARMVERBS_DISABLE is set, and the library does nothing */
	uint32_t daemon;  /* enum wv_daemon */
	uint32_t reason;  /* enum wv_reason, of the last open of a device */
	/* wv_request_pool(), from the daemon's last answer; all 0 if no request stands: */
	uint32_t pool_asked;   /* leases requested */
	uint32_t pool_granted; /* how many of them the budgets allow at present */
	uint32_t pool_ready;   /* how many programs like this one would get a lease at once */
	/* wv_prefork() or WARMVERBS_PREFORK: */
	uint32_t sets_ready; /* sets that are ready for children of this process */
};

/**
 * wv_query_status - what this process has from warmverbs now
 * @status: filled in
 * @size: sizeof(*@status)
 *
 * Returns what the process knows already and asks no other process. In a child after fork(2),
 * @reason is WV_REASON_NOT_OPENED until the child opens a device itself, and the child has no pool
 * request.
 *
 * Returns 0, or EINVAL if @status is NULL or @size is 0.
 */
int wv_query_status(struct wv_status *status, size_t size);

/**
 * wv_reason_str - a reason in words
 * @reason: the member of struct wv_status
 *
 * Returns a static string without a full stop, never NULL.
 */
const char *wv_reason_str(enum wv_reason reason);

/* Counts of events in this process. */
struct wv_statistics {
	/* Opens of RDMA devices. Each open counts also as leased, recorded, plain or ready. */
	uint64_t opens;
	uint64_t leased;   /* opened from a lease */
	uint64_t recorded; /* opened with plain verbs, and recorded for the daemon */
	uint64_t plain;	   /* opened with plain verbs */
	/* Commands of the control path, by which verbs reach the kernel. */
	uint64_t commands_adopted;  /* answered from prepared objects, without the kernel */
	uint64_t commands_kernel;   /* passed to the kernel */
	uint64_t commands_diverged; /* of these: not in this lease, though a lease can have them */
	/* Sets of objects for children, see wv_prefork(). */
	uint64_t ready;	     /* opens that the parent did before the fork */
	uint64_t sets_made;  /* sets created for children of this process */
	uint64_t sets_taken; /* of these: sets that children claimed */
	/* Queue pairs that were created ahead, because this process creates one after another. */
	uint64_t spares_made;
	uint64_t spares_taken; /* of these: given to the program */
	/* Spares that were connected to queue pairs of clients ahead. */
	uint64_t pairs_made;
	uint64_t pairs_used; /* of these: connections of the program now */
};

/**
 * wv_query_statistics - counts of events in this process so far
 * @statistics: filled in
 * @size: sizeof(*@statistics)
 *
 * Counters only grow. Each is exact, but they are not read at one moment. A child after fork(2) has
 * counters of its own, which start at 0. Posting and polling are not counted.
 *
 * Returns 0, or EINVAL if @statistics is NULL or @size is 0.
 */
int wv_query_statistics(struct wv_statistics *statistics, size_t size);

/**
 * wv_request_pool - have leases kept ready for programs like this one
 * @leases: how many leases, one for each such program; at least 1
 *
 * Programs like this one are those that this user starts from the same build with the same
 * arguments, the same libibverbs and the same WARMVERBS_NAME. If such a program opens devices
 * several times, a pool of this size is kept for each open. If no such program has been recorded
 * yet, the request takes effect as soon as one is. The daemon builds leases in the background,
 * within its budgets, and replaces those that are taken. wv_query_status() tells how many are
 * ready; calling this function again with the same number updates that value.
 *
 * The request stands until wv_release(), the next call with another number, or the end of this
 * process, however it ends. exec(2), closing all descriptors and a restart of the daemon end the
 * request too. A child after fork(2) has no part in it. If several processes make requests for the
 * same programs, the largest number counts, not the sum.
 *
 * Waits for the daemon's answer, at most 50 ms.
 *
 * Returns 0, or EINVAL if @leases is 0; nothing has changed then. After any other error no request
 * stands any more: EOPNOTSUPP if the environment prevents programs like this one from getting
 * leases (see enum wv_reason); ENOSYS if libibverbs is not loaded; ETIMEDOUT; ECONNRESET (the
 * daemon has another version, or too many programs have a request); EPROTO; EMFILE; or the errno
 * value of socket(2) or connect(2) if the daemon cannot be reached.
 */
int wv_request_pool(unsigned int leases);

/**
 * wv_prefork - keep RDMA objects ready for children of this process
 * @sets: how many sets of each kind, at most 64; 0: keep no sets any more
 * @rehearse: does, once and in this thread, what a child will do, and destroys it again; or NULL
 * @arg: the argument of @rehearse
 *
 * A child of fork(2) that does what was rehearsed finds the objects in place, from
 * ibv_get_device_list() to queue pairs in INIT (UD: in RTS), and makes no system call for them. A
 * set goes to one child; a thread of the library creates another set. A child that does something
 * else gets those objects from the kernel.
 *
 * As around any verbs, no other thread may call fork(2) while @rehearse runs.
 *
 * @rehearse opens a device, creates objects, moves queue pairs as far as children do before they
 * know a peer, destroys all objects and closes the device. The rehearsal ends at the first verb
 * that destroys, closes or connects. @rehearse returns 0, or a positive errno value, which
 * wv_prefork() returns. If @rehearse opens several devices, or one device several times, there is
 * one set for each open. For each open of each device, a later rehearsal replaces the earlier one.
 * If @rehearse is NULL, the sets contain what earlier rehearsals created, or, if there was none,
 * what the first child that opens a device creates.
 *
 * The sets are kept until wv_release(), another call, or the end of this process; children have no
 * part in this. This function replaces WARMVERBS_PREFORK.
 *
 * Returns 0 when the sets of all rehearsals, and of all children watched so far, are ready. After
 * the following errors no sets are kept: EINVAL if @sets is too large; EOPNOTSUPP if
 * WARMVERBS_DISABLE is set; ENODATA if @rehearse opened no device; the value that @rehearse
 * returned; ENOMEM; EAGAIN if no thread could be started. Otherwise returns the errno value of a
 * verb that failed while a set was created, or EOPNOTSUPP if the commands of that verb bypass this
 * library; the library tries again later.
 */
int wv_prefork(unsigned int sets, int (*rehearse)(void *arg), void *arg);

struct ibv_pd;
struct ibv_mr;

/**
 * wv_alloc_mr - memory that is registered
 * @pd: the protection domain
 * @bytes: its length
 * @access: enum ibv_access_flags, as for ibv_reg_mr(3)
 * @mr: set to the memory region; the memory is at (*@mr)->addr
 *
 * The memory begins at a page and is zeroed. A program like this one (see wv_request_pool()) that
 * asks for the same lengths and accesses finds memory that is registered already in its lease: up
 * to 32 MiB in all for each open of a device, and only without IBV_ACCESS_ON_DEMAND and the like,
 * which stay tied to the process that registers. All other memory is allocated and registered by
 * this call; the result is the same.
 *
 * A child of fork(2) shares the memory with its parent.
 *
 * Returns 0, or EINVAL if an argument is NULL or 0, ENOMEM, or the errno value of ibv_reg_mr(3).
 */
int wv_alloc_mr(struct ibv_pd *pd, size_t bytes, int access, struct ibv_mr **mr);

/**
 * wv_free_mr - deregister and free what wv_alloc_mr() returned
 * @mr: the memory region; may be NULL
 *
 * Memory from a lease stays mapped until its device is closed. Returns 0, or the errno value of
 * ibv_dereg_mr(3), and then nothing has changed.
 */
int wv_free_mr(struct ibv_mr *mr);

/**
 * wv_release - end what is kept for this process
 *
 * Ends what wv_request_pool() and wv_prefork() began. Also gives back a lease that
 * ibv_get_device_list() requested, if the program has opened no device from it. A lease from which
 * a device was opened stays with the program. Cannot fail; does nothing if nothing is kept.
 */
void wv_release(void);

#ifdef __cplusplus
}
#endif

#endif
