/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The whole protocol between a program (or the command line) and warmverbsd.
 *
 * SOCK_SEQPACKET: a message and its descriptors travel as one unit, so neither side ever holds half
 * a message. Every message begins with struct wv_msg, and has exactly the size of its type. A side
 * that does not understand the other closes the connection; the program then uses plain verbs.
 *
 *   program                          daemon
 *   WV_MSG_REQUEST + node descriptor ->
 *                                    <- WV_MSG_LEASE + descriptors, or WV_MSG_NO_LEASE
 *   WV_MSG_RECORD (if requested) or WV_MSG_REPORT (after a lease), perhaps fuller ones later; close
 *
 *   WV_MSG_CONNECTED, if pairs are wanted; meanwhile, WV_MSG_PAIR_GONE may come
 *
 *   WV_MSG_PAIR                      <-> a server that keeps spares (wire/pair.h)
 *
 *   WV_MSG_SERVICE                   <-> a process with services (wire/service_note.h)
 *
 *   WV_MSG_POOL                      ->  a pool request, as often as it changes
 *                                    <- WV_MSG_POOL_STATE
 *   close, or the program's end: the pool request ends
 *
 *   command line                     daemon
 *   WV_MSG_CONTROL, JSON text        ->
 *                                    <- WV_MSG_CONTROL, JSON text; text that is too long for a
 *                                       message is in a memfd that it carries
 *   close
 */
#pragma once

#include "base/build_id.h"
#include "base/fds.h"
#include "base/message.h"
#include "cmdlog/cmdlog.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/un.h>

#define WV_WIRE_MAGIC	0x42525657u /* "WVRB" */
#define WV_WIRE_VERSION 8
#define WV_WIRE_MAX	(WV_CMDLOG_MAX_BYTES + 512)
#define WV_WIRE_MAX_FDS WV_FDS_MOST

#define WV_SOCKET_DEFAULT "/run/warmverbs/socket"
#define WV_SOCKET_ENV	  "WARMVERBS_SOCKET"
/*
 * Added to the socket's path: a folder with further sockets of the same daemon, which are named
 * after users. Each admits that user alone, so that no other user's connections are before it.
 */
#define WV_USER_SOCKETS ".users"
/*
 * Added to the path of the socket's folder: a folder with the administrator's socket, of the same
 * name. It is not in that folder, which containers may have.
 */
#define WV_ADMIN_FOLDER "-admin"
/*
 * In the socket's folder: one line "uverbsN libNAME-rdmavM.so" for each device of the node. It
 * tells a program which of its providers to load, and whether there is a single device, without
 * waiting.
 */
#define WV_PROVIDERS_FILE "providers"
#define WV_MAX_DEVICES	  64 /* further devices of the node are not listed, and not leased */

/* How long a program waits for the daemon, in all, before it uses plain verbs. */
#define WV_WAIT_MS 50

enum wv_msg_type {
	WV_MSG_REQUEST = 1,
	WV_MSG_LEASE,
	WV_MSG_NO_LEASE,
	WV_MSG_RECORD,
	WV_MSG_REPORT,
	WV_MSG_CONTROL,
	WV_MSG_POOL,
	WV_MSG_POOL_STATE,
	WV_MSG_PAIR, /* wire/pair.h, as the next two */
	WV_MSG_CONNECTED,
	WV_MSG_PAIR_GONE,
	WV_MSG_SERVICE, /* wire/service_note.h */
};

struct wv_msg {
	uint32_t magic;
	uint16_t version;
	uint16_t type; /* enum wv_msg_type */
	uint32_t bytes;
	uint32_t reserved;
};

enum wv_request_flag {
	/*
	 * Not a request: the program holds a lease, and does what only a ufile of its own would let
	 * it do. Programs like it must get no lease. There is no answer.
	 */
	WV_REQUEST_UNFIT = 1,
	/* The program lists devices, and is likely to open this one. */
	WV_REQUEST_AHEAD = 2,
	/* The program opens this device, and has requested a lease in advance before, in vain. */
	WV_REQUEST_LISTED = 4,
};

/* Carries one descriptor: the device node, which the program opened for reading and writing. */
struct wv_msg_request {
	struct wv_msg msg;
	struct wv_build_id program; /* or a hash of its ELF headers */
	struct wv_build_id verbs;   /* libibverbs */
	uint64_t argv;		    /* hash of the argument vector */
	uint32_t open_number;	    /* opens of RDMA devices in this process before this one */
	uint32_t flags;		    /* enum wv_request_flag */
	char comm[16];		    /* for people; never trusted */
	char name[32];		    /* WARMVERBS_NAME, zero-filled: tells programs apart */
};

enum wv_answer_flag {
	WV_ANSWER_NO_SPARES = 1, /* please create no queue pairs ahead of the program */
	WV_ANSWER_PAIRS = 2,	 /* spares may be connected ahead of the program (wire/pair.h) */
	WV_ANSWER_CONNECTED = 4, /* please say how queue pairs of this lease are connected */
};

/* The pair (wire/pair.h) of which a queue pair of a lease is one end. */
struct wv_lease_pair {
	uint64_t pair;	 /* 0: there is none */
	uint32_t create; /* index of the step that creates the queue pair */
	uint32_t peer_qp_num;
	uint8_t peer_gid[16];
	uint32_t psn, peer_psn; /* the first PSN that it sends, and that of the peer */
};

_Static_assert(WV_WIRE_MAX_FDS == WV_CMDLOG_MAX_FDS + 2, "see wv_msg_lease");

/*
 * Carries 1 + n_fds descriptors: the command descriptor, then the slots in order; then, if the
 * command log has memory, the memfd to map.
 */
struct wv_msg_lease {
	struct wv_msg msg;
	uint64_t recipe;
	uint64_t rdev;		     /* the device node's st_rdev */
	struct wv_build_id provider; /* the program must have loaded it */
	uint32_t n_fds;
	uint32_t flags; /* enum wv_answer_flag */
	uint32_t reserved;
	struct wv_lease_pair pair;
	/* struct wv_cmdlog follows, form WV_LEASE */
};

enum wv_no_lease {
	WV_NO_LEASE_RECORD = 1, /* no recipe for this program yet: please record */
	WV_NO_LEASE_EMPTY,	/* all leases of the recipe are taken */
	WV_NO_LEASE_DENIED,	/* no access to the device, or over a limit */
	WV_NO_LEASE_UNFIT,	/* this program or device gets no lease */
	WV_NO_LEASE_LATER,	/* please ask again when the device is opened */
	/* Not answers: */
	WV_NO_LEASE_PROVIDER, /* the daemon lists no provider of the device, so it was not asked */
	WV_NO_LEASE_SILENT,   /* there was no answer in time, or none that can be understood */
	WV_NO_LEASE_CLOSED,   /* the permissions of the daemon's socket keep this process out */
	WV_NO_LEASE_REASONS,  /* how many there are, with 0: not asked for another reason */
};

struct wv_msg_no_lease {
	struct wv_msg msg;
	uint32_t reason; /* enum wv_no_lease */
	uint32_t flags;	 /* enum wv_answer_flag */
			 /* struct wv_cmdlog may follow, form WV_LEASE, of WV_CONSTANT steps only */
};

struct wv_msg_record {
	struct wv_msg msg;
	struct wv_build_id provider;
	uint32_t more; /* as in the report */
		       /* struct wv_cmdlog follows, form WV_RECORD */
};

struct wv_msg_report {
	struct wv_msg msg;
	uint32_t adopted;  /* commands answered from the lease */
	uint32_t kernel;   /* commands answered by the kernel that are never leased */
	uint32_t diverged; /* commands that could have been in the lease and were not */
	uint32_t unused;   /* steps of the lease that the program did not use */
	uint32_t spares;   /* queue pairs that were created ahead, and given to the program */
	uint32_t reserved;
	/* The first that diverged: */
	uint32_t driver_id;
	uint32_t write_cmd;
	uint16_t object, method;
	uint16_t why; /* enum wv_why */
	uint16_t attr;
	uint32_t offset;
	uint16_t reached; /* steps of the lease up to the last one that the program used */
	uint8_t late;	  /* the program had connected a QP before it diverged */
	uint8_t more;	  /* another message may follow, and then takes the place of this one */
};

/*
 * A pool request: keep leases pooled for programs like this one, or, if who asks is to start the
 * program, like that one.
 */
struct wv_msg_pool {
	/*
	 * Its header is this message's; open_number and flags: 0; verbs: all zeros stand for the
	 * libibverbs that the program was last used with.
	 */
	struct wv_msg_request program;
	uint32_t leases; /* at least 1 */
	uint32_t reserved;
};

/* Of these programs' recipes (one for each open) the one with the fewest. */
struct wv_msg_pool_state {
	struct wv_msg msg;
	uint32_t granted; /* how many of the requested leases the budgets allow now */
	uint32_t ready;	  /* pooled leases */
};

_Static_assert(sizeof(struct wv_msg) == 16, "wire");
_Static_assert(sizeof(struct wv_msg_request) == 16 + 40 + 8 + 8 + 16 + 32, "wire");
_Static_assert(sizeof(struct wv_msg_lease) == 16 + 16 + 32 + 40,
	       "command log stays 8-byte aligned");
_Static_assert(sizeof(struct wv_msg_record) == 16 + 24, "command log stays 8-byte aligned");
_Static_assert(sizeof(struct wv_msg_report) == 16 + 24 + 24, "wire");
_Static_assert(sizeof(struct wv_msg_pool) == sizeof(struct wv_msg_request) + 8, "wire");
_Static_assert(sizeof(struct wv_msg_pool_state) == 16 + 8, "wire");

/*
 * The address *@at of the administrator's socket of the daemon at @socket. 0, or -ENAMETOOLONG;
 * -EINVAL: the path of the folder does not end in a name, so that there is none beside it.
 */
int wv_admin_socket(struct sockaddr_un *at, const char *socket);

/* The address *@at of the socket of @uid beside @socket. 0, or -ENAMETOOLONG. */
int wv_user_socket(struct sockaddr_un *at, const char *socket, uid_t uid);

/* Fills in the header of a message of @bytes in all. */
void wv_msg_init(struct wv_msg *msg, enum wv_msg_type type, size_t bytes);

/*
 * Checks that @bytes at @data are a message that this version understands: the header, and the size
 * of its type. Returns the type, or -EPROTO.
 */
int wv_msg_check(const void *data, size_t bytes);

/*
 * Receives one message without waiting. Its descriptors are close-on-exec and now the caller's; on
 * any error none is left open. Returns the message's size (0: the peer closed) or -errno; -EPROTO
 * if the message or its descriptors did not fit, or it has no bytes.
 */
ssize_t wv_recv(int sock, void *data, size_t capacity, int *fds, unsigned int max_fds,
		unsigned int *n_fds);

/*
 * Whether this process may follow the file WV_PROVIDERS_FILE that is open as @fd and lies in
 * @folder. A provider is code that this program will run. So only those may name it who could make
 * the program run other code anyway: root, the user, and whoever owns the folder of the socket,
 * whose leases the program takes.
 */
bool wv_provider_list_is_trusted(int fd, const char *folder);
