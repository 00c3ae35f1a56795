/*
 * warmverbs: RDMA programs that start warm.
 *
 * Nothing here is needed to use warmverbs: a program is served as it is, under LD_PRELOAD or linked
 * with -lwarmverbs in front of -libverbs. These functions are for programs that want to know, or to
 * ask for more. They are found by linking, by dlsym(3), or by a weak reference, which is NULL where
 * the library was not preloaded. Linked and preloaded at once, it is one library with one state.
 *
 * Functions that can fail return 0 or, as verbs do, a positive errno value; errno itself is left as
 * it was. All functions may be called from any thread at any time.
 *
 * Structures may grow at their end. A caller says by `size`, which is sizeof() of the structure as
 * it was compiled, how much it knows of; what the library in use does not know of is set to 0.
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
	WV_DAEMON_UNKNOWN,  /* nothing: it was not looked for yet, or there is no sign of it */
	WV_DAEMON_KNOWN,    /* it runs or ran on this node, and was not heard of yet */
	WV_DAEMON_ANSWERED, /* it answered */
	WV_DAEMON_GONE,	    /* it did not answer in time, and is asked for no more leases */
};

/* Why a device was not opened from a lease; wv_reason_str() has the words. */
enum wv_reason {
	WV_REASON_NONE,	      /* it was opened from one */
	WV_REASON_NOT_OPENED, /* this process has opened no device yet */
	WV_REASON_DISABLED,   /* WARMVERBS_DISABLE is set */
	WV_REASON_NOT_WANTED, /* WARMVERBS_LEASE is 0 */
	WV_REASON_DRIVERS,    /* IBV_DRIVERS or RDMAV_DRIVERS is set */
	WV_REASON_QUEUES,     /* the environment chooses the memory of mlx5 queues */
	WV_REASON_NO_DAEMON,  /* there is none, or it did not answer in time */
	WV_REASON_PROVIDER,   /* the device's provider is not known */
	WV_REASON_RECORDED,   /* the daemon does not know the program: this run is recorded */
	WV_REASON_EMPTY,      /* it knows the program, but had no lease ready */
	WV_REASON_DENIED,     /* it does not know the device */
	WV_REASON_UNFIT,      /* this program or this device gets none */
};

/* What this process has from warmverbs now. */
struct wv_status {
	uint32_t enabled; /* 0: WARMVERBS_DISABLE is set, and nothing is done */
	uint32_t daemon;  /* enum wv_daemon */
	uint32_t reason;  /* enum wv_reason, of the last open of a device */
	/* Of wv_request_pool(), as the daemon answered last; all 0 without one that stands: */
	uint32_t pool_asked;   /* leases asked for */
	uint32_t pool_granted; /* of these, what budgets allow at this time */
	uint32_t pool_ready;   /* programs like this one that could start warm at once */
	/* Of wv_prefork() or WARMVERBS_PREFORK: */
	uint32_t sets_ready; /* sets that wait for children of this process */
};

/**
 * wv_query_status - what this process has from warmverbs now
 * @status: filled in
 * @size: sizeof(*@status)
 *
 * Asks nobody: it tells what the process knows already. In a child after fork(2), @reason is
 * WV_REASON_NOT_OPENED until it opens a device itself, and there is no pool of its own.
 *
 * Returns 0, or EINVAL if @status is NULL or @size is 0.
 */
int wv_query_status(struct wv_status *status, size_t size);

/**
 * wv_reason_str - a reason in words
 * @reason: of wv_status
 *
 * Returns a static string without a full stop, never NULL.
 */
const char *wv_reason_str(enum wv_reason reason);

/* How often something happened in this process. */
struct wv_statistics {
	/* Opens of RDMA devices. Each is one of the next three, or ready. */
	uint64_t opens;
	uint64_t leased;   /* opened from a lease */
	uint64_t recorded; /* opened plainly, and recorded for the daemon */
	uint64_t plain;	   /* opened plainly */
	/* Commands of the control path, by which verbs reach the kernel. */
	uint64_t commands_adopted;  /* answered from what was prepared, without the kernel */
	uint64_t commands_kernel;   /* given to the kernel */
	uint64_t commands_diverged; /* of these: of a kind that is leased, and not in the lease */
	/* Sets of objects for children, see wv_prefork(). */
	uint64_t ready;	     /* opens that this process's parent had made */
	uint64_t sets_made;  /* for children of this process */
	uint64_t sets_taken; /* of these, by children */
};

/**
 * wv_query_statistics - what happened in this process so far
 * @statistics: filled in
 * @size: sizeof(*@statistics)
 *
 * Counters only grow; each is exact, but they are not read at one moment. A child after fork(2) has
 * counters of its own, which start at 0. Posting and polling are not counted.
 *
 * Returns 0, or EINVAL if @statistics is NULL or @size is 0.
 */
int wv_query_statistics(struct wv_statistics *statistics, size_t size);

/**
 * wv_request_pool - have leases kept ready for programs like this one
 * @leases: how many such programs are to find one; at least 1
 *
 * Like this one are programs that this user starts from the same file with the same arguments, the
 * same libibverbs and the same WARMVERBS_NAME. Where they open devices several times, that many
 * leases are kept for each open. If no such program has been recorded yet, this takes effect as
 * soon as one is. Leases are made in the background, within the daemon's budgets; taken ones are
 * made anew. What has become of it wv_query_status() tells; calling again with the same number asks
 * the daemon anew.
 *
 * It holds until wv_release(), the next call with another number, or the end of this process,
 * however it ends. exec(2) ends it too, and so do closing all descriptors and a restart of the
 * daemon. A child after fork(2) has no part in it. Where several processes ask for the same
 * programs, the largest number counts, not the sum.
 *
 * Waits for the daemon's answer, at most 50 ms. Returns 0; EINVAL if @leases is 0, and nothing has
 * changed; EOPNOTSUPP if the environment keeps programs like this one from getting leases (see enum
 * wv_reason); ENOSYS if libibverbs is not loaded; ETIMEDOUT, ECONNRESET (a daemon of another
 * version, or too many programs that ask), EPROTO, EMFILE, or the errno value of socket(2) or
 * connect(2) if the daemon cannot be asked. Then nothing is asked for any more.
 */
int wv_request_pool(unsigned int leases);

/**
 * wv_prefork - keep RDMA objects ready for children of this process
 * @sets: for how many children that have not come yet, at most 64; 0: for none any more
 * @rehearse: does once, in this thread, what a child will do, and undoes it; or NULL
 * @arg: its argument
 *
 * A child of fork(2) that does what was rehearsed finds the objects made, from
 * ibv_get_device_list() to queue pairs in INIT (UD: in RTS), and makes no system call for them. A
 * set goes to one child; a thread of the library makes another. A child that does something else
 * gets that from the kernel.
 *
 * As around any verbs, no other thread may fork(2) while @rehearse runs.
 *
 * @rehearse opens a device, makes objects, moves queue pairs as far as children will without
 * knowing a peer, destroys all of it and closes the device. It counts up to the first verb that
 * destroys, closes or connects. It returns 0, or a positive errno value that is passed on. Several
 * devices, or several opens of one, are a set for each. A later rehearsal takes the place of an
 * earlier one of the same open of the same device. With NULL, children are made ready for what was
 * rehearsed before, and otherwise for what the first child that opens a device does.
 *
 * Holds until wv_release(), another call, or the end of this process; children have no part in it.
 * It takes the place of WARMVERBS_PREFORK.
 *
 * Returns 0 when all sets of what is known are made. EINVAL if @sets is too large; EOPNOTSUPP if
 * WARMVERBS_DISABLE is set; ENODATA if @rehearse opened no device; what @rehearse returned; ENOMEM;
 * EAGAIN if there can be no thread. Nothing is kept then. Or the errno value of the verb that
 * failed for a set, EOPNOTSUPP if its commands pass by this library: what is missing is tried again
 * later.
 */
int wv_prefork(unsigned int sets, int (*rehearse)(void *arg), void *arg);

/**
 * wv_release - give back what is kept for this process
 *
 * Ends what wv_request_pool() and wv_prefork() began, and lets go of a lease that was asked for
 * when the devices were listed, if no device was opened since. What a device was opened from stays
 * the program's. Cannot fail; nothing happens where nothing is kept.
 */
void wv_release(void);

#ifdef __cplusplus
}
#endif

#endif
