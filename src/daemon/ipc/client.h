/*
 * One connection, from a program or the command line.
 */
#pragma once

#include "daemon/server.h"

enum wv_client_state {
	WV_CLIENT_NEW,	     /* a request or a question is expected */
	WV_CLIENT_RECORDING, /* a recording is expected */
	WV_CLIENT_LEASED,    /* a report is expected */
	WV_CLIENT_POOL,	     /* its pool request stands; another may come instead */
	WV_CLIENT_DONE,	     /* nothing is */
};

struct wv_client {
	LIST_ENTRY(wv_client) link; /* of the server's clients, newest first */
	struct wv_server *server;
	struct wv_user *user;
	int fd;
	sd_event_source *source;
	enum wv_client_state state;
	int64_t since_us; /* of the connection; LEASED: of the lease */
	/* From its request: */
	struct wv_key key;
	uint64_t argv;
	char comm[17];
	uint64_t recipe; /* LEASED: id */
	/* Of its pool request: */
	LIST_ENTRY(wv_client) pool_link; /* of the server's pool requests */
	uint32_t leases;		 /* 0: it has none */
};

/* What to do with the connection after a message. */
enum wv_client_next {
	WV_CLIENT_KEEP,
	WV_CLIENT_CLOSE,
	WV_CLIENT_MALFORMED, /* close, and count it */
};

/*
 * Serves the connection @fd of @user, which become the client's; the user's count of clients too.
 * On failure all is undone.
 */
void wv_client_start(struct wv_server *s, int fd, struct wv_user *user);
void wv_client_close(struct wv_client *c);

/*
 * Handlers of messages that have their size. @fds are the message's, and closed by the caller.
 */
struct wv_received {
	struct wv_msg *msg;
	const int *fds;
	unsigned int n_fds;
};

enum wv_client_next wv_handle_request(struct wv_client *c, const struct wv_received *in);
enum wv_client_next wv_handle_record(struct wv_client *c, const struct wv_received *in);
enum wv_client_next wv_handle_report(struct wv_client *c, const struct wv_received *in);
enum wv_client_next wv_handle_control(struct wv_client *c, const struct wv_received *in);

enum wv_client_next wv_handle_pool(struct wv_client *c, const struct wv_received *in);

/* Notes who the client is, and of which program. */
void wv_client_remember(struct wv_client *c, const struct wv_msg_request *request);

/* The connection ends, and with it its pool request. */
void wv_pool_request_end(struct wv_client *c);

/* The connection ended without the report that was due. */
void wv_handle_no_report(struct wv_client *c);
