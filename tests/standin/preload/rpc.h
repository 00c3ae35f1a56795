/* SPDX-License-Identifier: BSD-2-Clause */
/* The connection to the server, one for each thread. */
#pragma once

#include "../protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>

struct standin_answer {
	union {
		struct standin_reply reply;
		uint8_t bytes[STANDIN_ANSWER];
	};
	size_t n_bytes;
	int fds[STANDIN_MAX_FDS]; /* received; the caller's, closed at exec */
	unsigned int n_fds;
};

/*
 * One request and its reply. @iov[0] must be the request; @fds go with it. 0 or -errno, of the
 * connection or from the server; with an error come no descriptors.
 */
int standin_call(struct iovec *iov, size_t n_iov, const int *fds, unsigned int n_fds,
		 struct standin_answer *answer);

/* True if @fd is a uverbs file of the server's; @cookie is its name. Leaves errno alone. */
bool standin_is_ufile(int fd, uint64_t *cookie);
