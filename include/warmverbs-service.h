/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warmverbs: services. A process offers queue pairs under a name; another process, on this node or
 * on another, is connected to one of them in one call: no exchange of addresses, no listening
 * socket. See warmverbs-service(3).
 *
 * The functions are in libwarmverbs-service.so.0 (pkg-config: warmverbs-service), need a warmverbsd
 * on each node, and reach RDMA devices by verbs alone. Functions that can fail return 0 or, as
 * verbs do, a positive errno value. All functions may be called from any thread; but
 * wv_service_withdraw() not while another thread uses the offer or disconnects one of its
 * connections, and wv_service_disconnect() not while another thread uses the connection.
 *
 * Structures may grow at their end. The argument `size` is the sizeof() of the structure that the
 * caller was compiled with.
 */
#ifndef WARMVERBS_SERVICE_H
#define WARMVERBS_SERVICE_H

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WV_SERVICE_MOST_REGIONS 4
#define WV_SERVICE_MOST_DATA	196 /* bytes */

/* Memory of the other end. */
struct wv_region {
	uint64_t addr;	 /* for remote_addr of a work request */
	uint64_t length; /* bytes */
	uint32_t rkey;
};

/* One end of a connection, and what a client knows of the service. Read-only but for @context. */
struct wv_service_connection {
	struct ibv_qp *qp; /* RC, in RTS */
	/* At a client's end what the service tells of itself; at the service's end NULL and 0: */
	const struct wv_region *regions;
	unsigned int n_regions;
	const void *data;
	size_t data_bytes;
	void *context; /* the program's own; NULL at first */
};

/* What a process offers. Members may be 0 or NULL where that is said. */
struct wv_service_attr {
	const char *name; /* 1 to 31 bytes; unique among the user's services on the node */
	const char
	    *users; /* names of other users who may use it, with commas between; NULL: none */
	struct ibv_pd *pd;
	/* Of each queue pair: type RC, with CQs, SRQ and capacities as for ibv_create_qp(3). */
	const struct ibv_qp_init_attr *qp;
	int access;		   /* enum ibv_access_flags: what clients may do by a queue pair */
	uint8_t port_num;	   /* 0: 1 */
	unsigned int ready;	   /* queue pairs that are kept ready for clients, at most 64 */
	struct ibv_mr *const *mrs; /* memory that clients are told of; its rights are its own */
	unsigned int n_mrs;	   /* at most WV_SERVICE_MOST_REGIONS */
	const void *data;	   /* what else clients are told */
	size_t data_bytes;	   /* at most WV_SERVICE_MOST_DATA */
};

struct wv_offer;

/**
 * wv_service_offer - offer a service
 * @attr: what is offered; not needed after the call, but for the PD, CQs, SRQ and MRs
 * @size: sizeof(*@attr)
 * @offer: set to the offer, which is the caller's until wv_service_withdraw()
 *
 * From now on a thread of the library answers clients: it moves a queue pair to RTS towards each
 * that asks, and creates others. The service stands until wv_service_withdraw() or the end of the
 * process. If the daemon is started again, the thread offers the service anew; connections stay. A
 * child after fork(2) has no part in it.
 *
 * Waits for the daemon, at most 1 s.
 *
 * Returns 0, or an errno value: EINVAL for an invalid member; EEXIST if the user has a service of
 * that name on this node; EOPNOTSUPP if WARMVERBS_DISABLE is set; ECONNREFUSED if there is no
 * daemon, EACCES if its socket is not for this user, ECONNRESET if it is of another version or has
 * no services; ETIMEDOUT; ENOMEM, EMFILE or EAGAIN for memory, descriptors and the thread; or that
 * of ibv_create_qp(3) or ibv_modify_qp(3).
 */
int wv_service_offer(const struct wv_service_attr *attr, size_t size, struct wv_offer **offer);

/**
 * wv_service_fd - a descriptor to poll for events
 *
 * Readable as long as wv_service_next() has an event. It is the offer's: only poll it.
 */
int wv_service_fd(const struct wv_offer *offer);

enum wv_service_event_type {
	WV_SERVICE_CAME = 1, /* a client is connected */
	WV_SERVICE_LEFT,     /* the client has disconnected, or its process has ended */
};

struct wv_service_event {
	enum wv_service_event_type type;
	struct wv_service_connection *connection;
};

/**
 * wv_service_next - the next event of a service
 * @event: filled in
 *
 * A connection that came is the caller's until wv_service_disconnect(), also after its client has
 * left. Its queue pair has no receives yet: unless it has an SRQ, or clients only read and write
 * memory, post some; a client's message waits for them.
 *
 * That a client has left is told by the daemons. If one of them was started again since it came,
 * nobody knows, and only a work request that fails tells, as with plain verbs.
 *
 * Returns 0, or EAGAIN if there is no event. Does not wait.
 */
int wv_service_next(struct wv_offer *offer, struct wv_service_event *event);

/**
 * wv_service_withdraw - end an offer
 *
 * Waits for the library's thread, and destroys the queue pairs that no client has. Connections that
 * came stay with the caller, and no event tells any more that their clients have left. In a child
 * after fork(2) only frees memory.
 */
void wv_service_withdraw(struct wv_offer *offer);

/* What to connect to. Members may be 0 or NULL where that is said. */
struct wv_connect_attr {
	/*
	 * Where the service is: an address, a host name, or a GID. NULL: on this node. A name is
	 * looked up by getaddrinfo(3), which may take its time.
	 */
	const char *node;
	const char *user; /* whose service it is; NULL: this user's */
	const char *name; /* of the service */
	struct ibv_pd *pd;
	/* Of the queue pair: type RC, with CQs, SRQ and capacities as for ibv_create_qp(3). */
	const struct ibv_qp_init_attr *qp;
	int access;		 /* enum ibv_access_flags: what the service may do by it */
	uint8_t port_num;	 /* 0: 1 */
	unsigned int timeout_ms; /* 0: 1000 */
	/*
	 * Connections like this one that a thread of the library keeps connected for the next calls
	 * with the same members, at most 64. To the service they are clients that have come. They
	 * end after a minute without such a call, or by wv_service_release().
	 */
	unsigned int ahead;
};

/**
 * wv_service_connect - be connected to a service
 * @attr: to what, and how; not needed after the call, but for the PD, CQs and SRQ
 * @size: sizeof(*@attr)
 * @connection: set to the connection, which is the caller's until wv_service_disconnect()
 *
 * The queue pair is ready to post when the call returns, and the other end to receive. Waits at
 * most @attr->timeout_ms, and as long as the verbs take; not at all if one was connected ahead.
 *
 * Returns 0, or an errno value, and then nothing is left: EINVAL for an invalid member, or an
 * unknown host name; ENOENT if there is no such service, or not for this user; EHOSTUNREACH if the
 * daemon of the other node is not this daemon's peer, or down; EADDRNOTAVAIL if the port has no
 * address of the kind of @attr->node, or one by which the other node does not know this one; EPERM
 * if the user has no name; EBUSY if the service does not keep up; ENOBUFS if there are too many
 * connections; ETIMEDOUT; ECONNRESET if the service ended meanwhile; those of wv_service_offer()
 * about the daemon; or that of ibv_create_qp(3) or ibv_modify_qp(3), here or in the service.
 */
int wv_service_connect(const struct wv_connect_attr *attr, size_t size,
		       struct wv_service_connection **connection);

/**
 * wv_service_disconnect - end a connection
 *
 * Destroys its queue pair, which must not be used any more, and tells the other end's process. May
 * be NULL. To be called by the process that was connected, not by a child after fork(2). A queue
 * pair that cannot be destroyed (ibv_destroy_qp(3)) stays.
 */
void wv_service_disconnect(struct wv_service_connection *connection);

/**
 * wv_service_release - end what is kept ahead for a protection domain
 * @pd: of connections that were asked for with @ahead
 *
 * To be called before ibv_dealloc_pd(3), and before a CQ or an SRQ of such connections is
 * destroyed. Waits for the library's threads, as long as a connection that they are making takes.
 * Connections that the caller has stay.
 */
void wv_service_release(const struct ibv_pd *pd);

#ifdef __cplusplus
}
#endif

#endif
