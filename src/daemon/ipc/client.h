/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client, which is a program or the command line, as the handlers of its messages see it.
 */
#pragma once

#include "daemon/ipc/service.h"
#include "wire/wire.h"

enum wv_client_state {
	WV_CLIENT_NEW,	     /* a request or a question is expected */
	WV_CLIENT_RECORDING, /* a recording is expected, or a fuller one */
	WV_CLIENT_LEASED,    /* a report is expected, or a later one */
	WV_CLIENT_POOL,	     /* its pool request stands; another one may replace it */
	WV_CLIENT_KEEPER,    /* a server that keeps spares, and says what it connects them to */
	WV_CLIENT_SERVICES,  /* it offers services, or uses some */
	WV_CLIENT_DONE,	     /* nothing is expected but that it closes */
};

struct wv_keeper;
struct wv_pair;
struct wv_service_process;

/* The clients of a tenant. */
struct wv_tenant_clients {
	TAILQ_HEAD(, wv_connection) connections;
	unsigned int n;
	/* In answers that they have not read yet, as far as is known: */
	uint32_t in_flight;	  /* descriptors */
	unsigned int n_documents; /* memory files */
};

/* Before its first connection. False: memory is short. */
bool wv_tenant_may_have_clients(struct wv_tenant *tenant);

struct wv_client {
	struct wv_service *service;
	struct wv_user *user;
	struct wv_tenant *tenant;
	int fd;
	enum wv_client_state state;
	bool administrator; /* it came by the administrator's socket */
	bool stays;	    /* the end of its connection is not that of its process */
	bool unread;	    /* it disconnected without having read the last answer */
	int64_t since_us;   /* time of the connection; LEASED: of the lease */
	/* Of an answer that it has not read yet, as far as is known: */
	uint32_t in_flight; /* descriptors */
	bool document;	    /* it is in a memory file */
	/* From its request: */
	struct wv_key key;
	uint64_t argv;
	uint32_t flags; /* enum wv_request_flag */
	char comm[17];
	uint64_t recipe;	     /* LEASED: id; RECORDING: of what was recorded so far, or 0 */
	struct wv_msg_report report; /* LEASED: the last; of no bytes if there was none */
	struct wv_holder *holder; /* LEASED: its lease counts until the connection ends; or NULL */
	struct wv_pair *pair;	  /* LEASED: of which its lease is one end; or NULL */
	unsigned int n_connected; /* LEASED: messages about queue pairs that are connected */
	struct wv_keeper *keeper; /* KEEPER */
	struct wv_service_process *process; /* SERVICES */
	/* Of its pool request: */
	LIST_ENTRY(wv_client) pool_link; /* of the service's pool requests */
	uint32_t leases;		 /* 0: it has none */
};

/* What to do with the connection after a message. It is closed once its answer was read. */
enum wv_client_next {
	WV_CLIENT_KEEP,
	WV_CLIENT_CLOSE,
	WV_CLIENT_MALFORMED, /* close and count */
};

/* A message whose size was checked. The descriptors are borrowed. */
struct wv_received {
	struct wv_msg *msg;
	const int *fds;
	unsigned int n_fds;
};

/* Notes which program the client is. */
void wv_client_remember(struct wv_client *c, const struct wv_msg_request *request);

/* An answer to a client; the descriptors and all else stay the caller's. */
struct wv_answer_parts {
	const void *head, *tail; /* @tail may be NULL */
	size_t head_bytes, tail_bytes;
	const int *fds;
	unsigned int n_fds;
	bool document; /* the descriptor is a memory file that was made for this answer */
};

/*
 * Answers, without waiting. An answer that is not read keeps its descriptors open, so they are
 * charged until it was read: 0; -EDQUOT if the client's tenant has too many of them; or -errno.
 */
int wv_client_answer(struct wv_client *c, const struct wv_answer_parts *answer);

/* Whether the client may be sent an answer of the largest kind now. */
bool wv_client_may_be_answered(const struct wv_client *c);

/* Whether the client has read all answers. */
bool wv_client_has_read(const struct wv_client *c);

/* Whether the daemon can do without all that the client may still send. */
bool wv_client_is_dispensable(const struct wv_client *c);

/* The client has read its answers, or its connection is closed: nothing is charged any more. */
void wv_client_discharge(struct wv_client *c);
