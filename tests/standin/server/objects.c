/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"
#include "port.h"

#include <errno.h>
#include <stdlib.h>

/* First number of each kind: far apart, so that one kind is not taken for another by mistake. */
enum { FIRST_CQN = 0x20, FIRST_SRQN = 0x8000, FIRST_QPN = 0x100, FIRST_PDN = 0x10, FIRST_KEY = 2 };

void hca_init(struct hca *hca, struct hca_net *net, unsigned int number, struct hca_oracle *oracle)
{
	hca->net = net;
	hca->number = number;
	LIST_INSERT_HEAD(&net->hcas, hca, of_net);
	hca_address_init(hca);
	hca->oracle = oracle;
	hca->cqns.first = hca->cqns.next = FIRST_CQN;
	hca->srqns.first = hca->srqns.next = FIRST_SRQN;
	hca->qpns.first = hca->qpns.next = FIRST_QPN;
	hca->pdns.first = hca->pdns.next = FIRST_PDN;
	hca->keys.first = hca->keys.next = FIRST_KEY;
	hca->next_uar_page = 0x400;
}

uint32_t hca_number_take(struct hca_numbers *numbers, void *object)
{
	for (uint32_t i = 0; i < HCA_N_NUMBERS; i++) {
		uint32_t number = numbers->next;
		void **at = &numbers->at[number - numbers->first];

		numbers->next++;
		if (numbers->next == numbers->first + HCA_N_NUMBERS)
			numbers->next = numbers->first;
		if (!*at) {
			*at = object;
			return number;
		}
	}
	return 0;
}

void hca_number_free(struct hca_numbers *numbers, uint32_t number)
{
	numbers->at[number - numbers->first] = NULL;
	if (numbers->reuse)
		numbers->next = number;
}

static void *number_find(const struct hca_numbers *numbers, uint32_t number)
{
	if (number < numbers->first || number - numbers->first >= HCA_N_NUMBERS)
		return NULL;
	return numbers->at[number - numbers->first];
}

struct hca_qp *hca_qp_at(struct hca *hca, uint32_t qpn)
{
	return number_find(&hca->qpns, qpn);
}

struct hca_mr *hca_mr_at(struct hca *hca, uint32_t key)
{
	struct hca_mr *mr = number_find(&hca->keys, key >> 8);

	return mr && mr->key == key ? mr : NULL;
}

/* The lowest free handle, as the kernel gives them; the table grows as needed. */
static int take_handle(struct hca_ufile *ufile, struct hca_object *object)
{
	uint32_t handle = 0, more;
	struct hca_object **handles;

	while (handle < ufile->n_handles && ufile->handles[handle])
		handle++;
	if (handle == ufile->n_handles) {
		more = ufile->n_handles ? ufile->n_handles * 2 : 16;
		handles = reallocarray(ufile->handles, more, sizeof(*handles));
		if (!handles)
			return -ENOMEM;
		for (uint32_t i = ufile->n_handles; i < more; i++)
			handles[i] = NULL;
		ufile->handles = handles;
		ufile->n_handles = more;
	}
	ufile->handles[handle] = object;
	object->handle = handle;
	return 0;
}

int hca_object_add(struct hca_ufile *ufile, enum hca_kind kind, struct hca_object *object)
{
	int error = take_handle(ufile, object);

	if (error)
		return error;
	object->kind = kind;
	object->ufile = ufile;
	LIST_INSERT_HEAD(&ufile->objects, object, of_ufile);
	return 0;
}

int hca_object_get(struct hca_ufile *ufile, uint64_t handle, enum hca_kind kind, void *object)
{
	struct hca_object *found;

	if (handle > INT32_MAX)
		return -EINVAL;
	found = handle < ufile->n_handles ? ufile->handles[handle] : NULL;
	if (!found)
		return -ENOENT;
	if (found->kind != kind)
		return -EINVAL;
	*(struct hca_object **)object = found;
	return 0;
}

static int pd_fini(struct hca_object *object, struct hca_work *work)
{
	struct hca_pd *pd = (struct hca_pd *)object;
	int error = hca_fw(work, FW_DEALLOC_PD);

	if (!error)
		hca_number_free(&object->ufile->hca->pdns, pd->pdn);
	return error;
}

static int ah_fini(struct hca_object *object, struct hca_work *work)
{
	(void)work;
	((struct hca_ah *)object)->pd->object.users--;
	hca_gid_release(((struct hca_ah *)object)->gid);
	return 0;
}

static int mr_fini(struct hca_object *object, struct hca_work *work)
{
	struct hca_mr *mr = (struct hca_mr *)object;
	int error = hca_fw(work, FW_DESTROY_MKEY);

	if (error)
		return error;
	mr->pd->object.users--;
	hca_mem_unpin(&mr->mem);
	hca_number_free(&object->ufile->hca->keys, mr->key >> 8);
	return 0;
}

static int devx_fini(struct hca_object *object, struct hca_work *work)
{
	(void)object;
	return hca_fw(work, FW_DEVX);
}

static int (*const fini[HCA_KINDS])(struct hca_object *, struct hca_work *) = {
    [HCA_PD] = pd_fini, [HCA_CQ] = hca_cq_fini, [HCA_SRQ] = hca_srq_fini, [HCA_QP] = hca_qp_fini,
    [HCA_AH] = ah_fini, [HCA_MR] = mr_fini,	[HCA_UAR] = hca_uar_fini, [HCA_DEVX] = devx_fini,
};

int hca_object_destroy(struct hca_object *object, struct hca_work *work)
{
	int error;

	if (object->users)
		return -EBUSY;
	error = fini[object->kind](object, work);
	if (error)
		return error;
	LIST_REMOVE(object, of_ufile);
	object->ufile->handles[object->handle] = NULL;
	free(object);
	return 0;
}
