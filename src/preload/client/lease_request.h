/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks warmverbsd for a lease. This process does not ask a daemon again that is absent, old or
 * hung. Call all functions but the first two with the lock of the control path held.
 */
#pragma once

#include "base/fds.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The request for one open of a device. */
struct wv_lease_request {
	int node;	      /* the device node, opened by this process; or -errno of that open */
	int sock;	      /* the answer arrives here; -1: the daemon was not asked */
	dev_t rdev;	      /* of the node; 0 (no device has it): no node. Set with sock */
	uint32_t open_number; /* which open of a device it is in the process that will use it */
	bool ahead;	      /* made for another process; not urgent */
	bool refused;	      /* not asked: the process has no descriptors to spare for a lease */
};

/*
 * Opens the node at @path and requests a lease of it, if leases are possible and no request is
 * pending. wv_lease_request_take() picks up the request when the program opens @path. Cheap if
 * there is no daemon.
 */
void wv_lease_request_begin(const char *path);

/* Drops a pending request. Afterwards this process requests leases only when it opens a device. */
void wv_lease_request_drop(void);

/*
 * The request for the program's open of @path: the pending one if it is for @path and was made by
 * the same user, or else a new one: a process that has given up its rights gets nothing that it
 * asked for when it had them. With @ask false the daemon is not asked. The descriptors are the
 * caller's, and not tracked; if there is a socket, both can be.
 */
struct wv_lease_request wv_lease_request_take(const char *path, bool ask);

/*
 * The same for an open that the program has not asked for, with the number @open_number. @ahead: it
 * is for another process, and not urgent. A pending request stays pending.
 */
struct wv_lease_request wv_lease_request_make(const char *path, bool ask, uint32_t open_number,
					      bool ahead);

/*
 * Waits for the daemon's answer to @r, for as long as suits the request. If the daemon put off what
 * was asked in advance, asks again, over another socket. Returns what wv_receive() does.
 */
int wv_lease_request_answer(struct wv_lease_request *r, void *message, size_t capacity,
			    struct wv_fds *fds);

/*
 * Tells the daemon to give no more leases to programs like this one, because they need capabilities
 * that a lease does not have. @ufile proves that this process may use the device.
 */
void wv_lease_request_retract(int ufile, uint32_t open_number);

/*
 * Whether this thread has CAP_NET_RAW or CAP_SYS_RAWIO, which the daemon has given up. With them,
 * some drivers give extra capabilities to the contexts that it opens (Linux, drivers/infiniband/hw,
 * devx.c, devx_create()).
 */
bool wv_has_raw_capabilities(void);

/* In a forked child: the pending request is the parent's. */
void wv_lease_request_forked(void);
