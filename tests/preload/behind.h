/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests ask of the second preload, behind.c. */
#pragma once

#define BEHIND_NODE "/dev/infiniband/uverbs-test"

enum call {
	CALL_OPEN,
	CALL_OPENAT,
	CALL_CLOSE,
	CALL_CLOSE_RANGE,
	CALL_CLOSEFROM,
	CALL_DUP,
	CALL_DUP2,
	CALL_DUP3,
	CALL_FCNTL,
	CALL_FORK,
	CALL_IOCTL,
	CALL_MMAP,
	CALL_READ,
	CALL_WRITE,
	CALLS
};

/* How often a call has reached it so far. */
unsigned int behind_count(enum call call);

/* Calls @function inside each open of the node from now on. */
void behind_at_open(void (*function)(void));
