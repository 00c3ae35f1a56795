/* SPDX-License-Identifier: BSD-2-Clause */
/* As much of libibverbs as loader.c calls. */
#include <infiniband/verbs.h>

#undef ibv_reg_mr

__attribute__((visibility("default"))) unsigned int loader_registrations;

__attribute__((visibility("default"))) struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *at,
								 size_t bytes, int access)
{
	static struct ibv_mr mr;

	(void)access;
	loader_registrations++;
	mr = (struct ibv_mr){.pd = pd, .addr = at, .length = bytes};
	return &mr;
}
