/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * As much of the kernel as the codec relies on, in memory: one ufile with one table of handles
 * (lowest free number, all kinds of object in it), real descriptors, the states of a QP, EBUSY;
 * numbers of the hardware, and queues that lie in memory of this process.
 *
 * Answers depend only on the object's kind and how manieth of its kind it is, not on its handle: so
 * a program must be told the same whether it made an object itself or received it in a lease.
 */
#pragma once

#include "abi/abi.h"

#include <stdbool.h>

#define FAKE_OBJECTS 1024
#define FAKE_USES    6
#define FAKE_KINDS   128
#define FAKE_SEEN    128

struct fake_object {
	uint16_t kind; /* UVERBS_OBJECT_* */
	bool live;
	uint32_t ordinal;
	uint32_t uses[FAKE_USES];
	unsigned int n_uses;
	uint64_t user_handle;
	/* Of a QP: */
	uint32_t state, access;
	uint32_t peer, rq_psn, sq_psn; /* as it was told last */
	uint32_t received;	       /* packets, which a test says */
	/* Memory that it was given, by what is mapped there rather than where; 0: none. */
	uint64_t buffer, doorbell;
	uint8_t seen[FAKE_SEEN]; /* how its queue began */
};

struct fake_kernel {
	struct fake_object objects[FAKE_OBJECTS];
	uint32_t made[FAKE_KINDS]; /* of each kind, so far */
	uint32_t next_number;	   /* of the hardware */
	unsigned int shared; /* objects made in memory that another, alive, has for its queue */
	unsigned int issued; /* commands seen */
	void (*reset)(void); /* a QP has come to RESET; may be NULL */
	int fail_at;	     /* the command, counted from 0, that fails; -1: none */
	int fail_errno;
};

void fake_kernel_init(struct fake_kernel *kernel);

/* A wv_issue_fn: 0 or a positive errno value. */
int fake_kernel_issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd);

/*
 * The @i'th byte of the answer @attr of the @ordinal'th object of @kind. Numbers of queue pairs
 * have 24 bits.
 */
uint8_t fake_answer_byte(uint16_t kind, unsigned int ordinal, uint16_t attr, unsigned int i);

/* Objects of @kind that exist. */
unsigned int fake_kernel_live(const struct fake_kernel *kernel, uint16_t kind);
