/*
 * Asking warmverbsd for a lease. A daemon that is absent, old or hung is not asked again by this
 * process. All but the first two functions are called with the lock of the control path held.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is asked for one open of a device. */
struct wv_lease_request {
	int node;	      /* the device node, opened by this process; or -errno of that open */
	int sock;	      /* the answer comes here; -1: nobody was asked */
	dev_t rdev;	      /* of the node; 0, which no device has: it is none. Set with sock */
	uint32_t open_number; /* which open of a device it is in the process that will use it */
	bool ahead;	      /* made for another process, and in no hurry */
};

/*
 * Opens the node at @path and asks for a lease of it, if that makes sense and nothing is pending;
 * the answer is collected when the program opens @path. Cheap when there is no daemon.
 */
void wv_lease_request_begin(const char *path);

/* Drops a request whose answer nobody collected. */
void wv_lease_request_drop(void);

/*
 * The request for the program's next open, which is of @path: the pending one if it is for that,
 * else a new one. With @ask false no lease is wanted, and nobody is asked. Its descriptors are the
 * caller's, untracked.
 */
struct wv_lease_request wv_lease_request_take(const char *path, bool ask);

/* The same for an open that is made ahead, as number @open_number; what is pending stays so. */
struct wv_lease_request wv_lease_request_make(const char *path, bool ask, uint32_t open_number);

/* The daemon's answer to @r, waiting for it as long as is right; as of wv_client_receive(). */
int wv_lease_request_answer(const struct wv_lease_request *r, void *message, size_t capacity,
			    int *fds, unsigned int *n_fds);

/*
 * Tells the daemon that programs like this one get no lease any more: they need capabilities that a
 * lease does not give. @ufile proves the right to the device.
 */
void wv_lease_request_retract(int ufile, uint32_t open_number);

/* In a forked child: the pending request is the parent's. */
void wv_lease_request_forked(void);
