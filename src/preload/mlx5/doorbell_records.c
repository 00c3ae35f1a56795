/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/mlx5/doorbell_records.h"

#include "abi/compose.h"
#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/guard.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/memory/shared_blocks.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * What the provider has asked for while it creates a spare: first its queue, then, if none is free,
 * more records.
 */
enum asked { NOT_PARTING, NOTHING, QUEUE, RECORDS };

static __thread enum asked asked __attribute__((tls_model("initial-exec")));

static struct {
	pthread_mutex_t lock;
	unsigned int n; /* contexts */
} parted WV_HOT = {.lock = PTHREAD_MUTEX_INITIALIZER};
static uint8_t spare_queue[65536] WV_COLD(2); /* used by all spares; of a page of any size */

/* By the index of the context. */
static struct inherited {
	struct ibv_cq *spares; /* the latest spare, which leads to those before it */
	bool is_parted;
} inherited[WV_MAX_CONTEXTS] WV_COLD(1);

bool wv_dbrec_is_parting(void)
{
	return asked != NOT_PARTING;
}

void *wv_dbrec_memory(size_t bytes)
{
	if (++asked >= RECORDS)
		return wv_shared_block_new(bytes) ?: wv_private_block_new(bytes);
	return bytes <= sizeof(spare_queue) ? spare_queue : NULL;
}

/* Answers the command that creates a spare, in place of the kernel. */
static int answer(struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct wv_command_row *row =
	    wv_abi_find(cmd->driver_id, cmd->object_id, cmd->method_id, wv_abi_write_cmd(cmd));

	if (!row || !wv_abi_creates(row, UVERBS_OBJECT_CQ)) {
		errno = EOPNOTSUPP;
		return -1;
	}
	wv_answer_empty(cmd, row);
	return 0;
}

/* Each spare has the one before as its cq_context, so that none is leaked. */
static int make_spares(struct wv_context *c, struct inherited *of)
{
	const struct wv_real *real = wv_real_verbs();
	struct ibv_cq *cq = NULL;

	wv_scope.answer = answer;
	do {
		asked = NOTHING;
		cq = real ? real->create_cq(c->verbs, 1, of->spares, NULL, 0) : NULL;
		if (cq)
			of->spares = cq;
	} while (cq && asked < RECORDS);
	asked = NOT_PARTING;
	wv_scope.answer = NULL;
	return cq ? 0 : -ENOMEM;
}

void wv_dbrec_begin(const struct wv_context *c)
{
	inherited[c->index] = (struct inherited){.spares = NULL};
}

/* In a child of _Fork(), no handler has called wv_dbrec_forked(). */
static bool is_in_unseen_child(void)
{
	static pid_t told;

	if (wv_process_is_adopted())
		return false;
	if (told != getpid()) {
		told = getpid();
		wv_dbrec_forked();
	}
	return true;
}

/*
 * No deadlock: a thread whose provider asks for records holds the provider's lock on them, but the
 * provider asked for a queue before, so this thread has been here already.
 */
int wv_dbrec_part(struct wv_context *c)
{
	struct inherited *of = &inherited[c->index];
	int err = 0;

	if (!is_in_unseen_child() && !wv_context_is_shared(c))
		return 0;
	if (__atomic_load_n(&of->is_parted, __ATOMIC_ACQUIRE))
		return 0;
	wv_guard_begin();
	pthread_mutex_lock(&parted.lock);
	if (!of->is_parted)
		err = make_spares(c, of);
	parted.n += !err && !of->is_parted;
	if (!err)
		__atomic_store_n(&of->is_parted, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&parted.lock);
	wv_guard_end();
	return err;
}

/* Nothing is written that need not be: the child copies each page that it writes to. */
void wv_dbrec_forked(void)
{
	for (unsigned int i = 0; parted.n && i < WV_MAX_CONTEXTS; i++) {
		parted.n -= inherited[i].is_parted;
		inherited[i].is_parted = false;
	}
	pthread_mutex_init(&parted.lock, NULL);
	asked = NOT_PARTING;
}
