/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a client asks a child of a template to become: the program that the client would have
 * executed. One SOCK_SEQPACKET connection for each start. The child says WV_START_READY, the client
 * sends one message, and the child answers WV_START_STARTED; or WV_START_REFUSED, whereupon the
 * client executes the program itself. All other attributes of the client the child reads from
 * /proc, where nobody can forge them.
 */
#pragma once

#include "base/because.h"
#include "template/unseen.h"

#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WV_START_MAGIC	 0x54535657 /* "WVST" */
#define WV_START_VERSION 1
/* With those that are always there, nearly as many as a message can carry (SCM_MAX_FD, 253). */
#define WV_START_FDS   248
#define WV_START_BYTES ((size_t)128 << 10) /* of a message: fits the buffer of any socket */

/* Descriptors of the message: these, and then @n_fds others. */
enum {
	WV_START_CWD,	  /* the client's working directory */
	WV_START_PROGRAM, /* the file that the client would execute */
	WV_START_PROOF,	  /* of the supervisor: who may trace it can open it in /proc */
	WV_START_OWN,
};

struct wv_start {
	uint32_t magic;
	uint16_t version;
	uint16_t n_fds;
	uint32_t argc, envc;
	int64_t thread;	  /* of the client: whose attributes the start has */
	uint64_t blocked; /* signals, as the kernel has them: 1 is the first bit */
	int64_t unseen[WV_UNSEEN];
	int32_t fds[WV_START_FDS]; /* the numbers that they have in the client, in rising order */
	char strings[];		   /* the path, argv, environ; each ends in its zero */
};

/* No padding before the strings. */
_Static_assert(offsetof(struct wv_start, strings) == sizeof(struct wv_start), "");

enum wv_start_word {
	WV_START_READY = 1, /* say what to start: nothing of it waits in a queue before that */
	WV_START_STARTED,   /* @value is the pid; carries a pidfd */
	WV_START_REFUSED,   /* nothing has happened, and @why says why */
	WV_START_ENDED,	    /* @value is the status of wait(2); from the supervisor */
};

struct wv_start_answer {
	uint32_t word; /* enum wv_start_word */
	int32_t value;
	struct wv_reason_text why; /* with WV_START_REFUSED */
};

#define WV_START_AUXV 64 /* entries of getauxval(3), which no kernel has as many of */

/* A start that a child has received. */
struct wv_started {
	/*
	 * In one mapping, as the kernel places them for execve(2): argc, argv, environ, auxv, and
	 * the strings. Some programs find one from the other.
	 */
	void *mapping;
	size_t bytes;
	char *path;
	char **argv, **environ;
	ElfW(auxv_t) * auxv; /* room for WV_START_AUXV */
	int argc;
	pid_t thread;
	int cwd, program, proof;
	uint64_t blocked;
	int64_t unseen[WV_UNSEEN];
	unsigned int n_fds;
	int from[WV_START_FDS], to[WV_START_FDS]; /* descriptors here, and in the client */
};

/*
 * Checks @message, of @bytes, with its @n descriptors, and fills in @s. Returns 0, or -EPROTO if it
 * is not a start as described above, or -ENOMEM. The descriptors stay the caller's.
 */
int wv_start_read(const struct wv_start *message, size_t bytes, const int *fds, unsigned int n,
		  struct wv_started *s);

/* What wv_start_read() has filled in is of no use. */
void wv_start_free(struct wv_started *s);
