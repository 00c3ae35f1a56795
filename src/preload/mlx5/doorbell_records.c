#include "preload/mlx5/doorbell_records.h"

#include "base/base.h"
#include "preload/core/context.h"
#include "preload/core/real_verbs.h"
#include "preload/memory/shared_blocks.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* What the provider has asked for while it makes a spare: first its queue, then, if need be, more
 * records. */
enum asked { NOT_PARTING, NOTHING, QUEUE, RECORDS };

static __thread enum asked asked __attribute__((tls_model("initial-exec")));

static pthread_mutex_t parting = PTHREAD_MUTEX_INITIALIZER;
static void *spare_queue; /* of all of them */

bool wv_dbrec_parting(void)
{
	return asked != NOT_PARTING;
}

void *wv_dbrec_memory(size_t bytes)
{
	if (++asked >= RECORDS)
		return wv_shared_block_new(bytes);
	if (!spare_queue && posix_memalign(&spare_queue, wv_page_size(), wv_whole_pages(bytes)))
		return NULL;
	return spare_queue;
}

int wv_dbrec_answer(struct ib_uverbs_ioctl_hdr *cmd)
{
	if (cmd->object_id != UVERBS_OBJECT_CQ || cmd->method_id != UVERBS_METHOD_CQ_CREATE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		struct ib_uverbs_attr *attr = &cmd->attrs[i];

		if (attr->attr_id == UVERBS_ATTR_CREATE_CQ_HANDLE)
			attr->data = WV_NONE;
		else if (attr->attr_id == UVERBS_ATTR_CREATE_CQ_RESP_CQE ||
			 attr->attr_id == UVERBS_ATTR_UHW_OUT)
			memset((void *)(uintptr_t)attr->data, 0, attr->len);
		else
			continue;
		attr->flags |= UVERBS_ATTR_F_VALID_OUTPUT;
	}
	return 0;
}

/* Each holds the one before it, so that none is lost. */
static int make_spares(struct wv_context *c)
{
	const struct wv_real_verbs *real = wv_real_verbs();
	struct ibv_cq *cq = NULL;

	do {
		asked = NOTHING;
		cq = real ? real->create_cq(c->verbs, 1, c->spares, NULL, 0) : NULL;
		if (cq)
			c->spares = cq;
	} while (cq && asked < RECORDS);
	asked = NOT_PARTING;
	return cq ? 0 : -ENOMEM;
}

/*
 * A thread whose provider asks for records holds the provider's lock on them; but it has asked for
 * a queue before, and so been here already.
 */
int wv_dbrec_part(struct wv_context *c)
{
	int err = 0;

	if (!wv_context_is_shared(c) || __atomic_load_n(&c->parted, __ATOMIC_ACQUIRE))
		return 0;
	pthread_mutex_lock(&parting);
	if (!c->parted)
		err = make_spares(c);
	if (!err)
		__atomic_store_n(&c->parted, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&parting);
	return err;
}

void wv_dbrec_forked(void)
{
	pthread_mutex_init(&parting, NULL);
	asked = NOT_PARTING;
}
