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
};

/**
 * wv_query_status - what this process has from warmverbs now
 * @status: filled in
 * @size: sizeof(*@status)
 *
 * Asks nobody: it tells what the process knows already. In a child after fork(2), @reason is
 * WV_REASON_NOT_OPENED until it opens a device itself.
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
	/* Opens of RDMA devices. Each is one of the next three. */
	uint64_t opens;
	uint64_t leased;   /* opened from a lease */
	uint64_t recorded; /* opened plainly, and recorded for the daemon */
	uint64_t plain;	   /* opened plainly */
	/* Commands of the control path, by which verbs reach the kernel. */
	uint64_t commands_adopted;  /* answered from what was prepared, without the kernel */
	uint64_t commands_kernel;   /* given to the kernel */
	uint64_t commands_diverged; /* of these: of a kind that is leased, and not in the lease */
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

#ifdef __cplusplus
}
#endif

#endif
