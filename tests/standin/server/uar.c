/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * User access regions: pages of the adapter in which programs ring doorbells. What is written there
 * is ignored: the data path reads the doorbell records in memory.
 */
#include "uar.h"

#include "commands.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* The driver's mmap offsets are made of a command and an index, in pages. */
#define CMD_OF(page)	  ((page) >> 8 & 0xff)
#define INDEX_OF(page)	  (((page) >> 16 << 8) | ((page)&0xff))
#define FIRST_UAR_CMD	  9u
#define PAGE_OF_SLOT(i)	  (((uint64_t)(i) >> 8 << 16) | FIRST_UAR_CMD << 8 | ((i)&0xff))
#define FIRST_UAR_IN_FILE 2 /* behind the clock's pages */

static bool slot_is_taken(const struct hca_ufile *ufile, uint32_t slot)
{
	struct hca_object *object;

	LIST_FOREACH (object, &ufile->objects, of_ufile) {
		if (object->kind == HCA_UAR && ((struct hca_uar *)object)->slot == slot)
			return true;
	}
	return false;
}

static int make_page(struct hca_ufile *ufile, struct hca_uar *uar)
{
	while (slot_is_taken(ufile, uar->slot))
		uar->slot++;
	return ftruncate(ufile->pages, (FIRST_UAR_IN_FILE + uar->slot + 1) * (off_t)HCA_PAGE)
		   ? -errno
		   : 0;
}

int hca_alloc_uar(struct hca_call *call)
{
	uint64_t type = hca_call_number(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 0), offset;
	uint32_t length = HCA_PAGE;
	struct hca_uar *uar;
	int error;

	if (type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF && type != MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
		return -EOPNOTSUPP;
	error = hca_call_firmware(call);
	if (error)
		return error;
	uar = calloc(1, sizeof(*uar));
	if (!uar)
		return -ENOMEM;
	error = make_page(call->ufile, uar);
	if (error) {
		free(uar);
		return error;
	}
	uar->page_id = call->hca->next_uar_page++;
	/* The numbers have to fit the 16 bits that old commands have for them. */
	if (call->hca->next_uar_page == UINT16_MAX)
		call->hca->next_uar_page = 0x400;
	error = hca_object_add(call->ufile, HCA_UAR, &uar->object);
	offset = PAGE_OF_SLOT(uar->slot) * HCA_PAGE;
	hca_call_out_handle(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, uar->object.handle);
	HCA_CALL_OUT(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset);
	HCA_CALL_OUT(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length);
	HCA_CALL_OUT(call, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &uar->page_id);
	return error;
}

int hca_uar_fini(struct hca_object *object, struct hca_work *work)
{
	(void)object;
	return hca_fw(work, FW_DEALLOC_UAR);
}

bool hca_has_uar(const struct hca_ufile *ufile, uint32_t page_id)
{
	struct hca_object *object;

	LIST_FOREACH (object, &ufile->objects, of_ufile) {
		if (object->kind == HCA_UAR && ((struct hca_uar *)object)->page_id == page_id)
			return true;
	}
	return false;
}

/* The clock and its conversion may be read only. */
static int map_clock(struct hca_ufile *ufile, unsigned int file_page,
		     const struct standin_request *request, uint64_t *file_offset)
{
	if (request->prot & PROT_WRITE)
		return -EPERM;
	*file_offset = file_page * (uint64_t)HCA_PAGE;
	return hca_ufile_map(ufile, false);
}

int hca_mmap(struct hca_ufile *ufile, const struct standin_request *request, uint64_t *file_offset)
{
	uint64_t page = request->offset / HCA_PAGE, slot;

	if (!ufile->has_context || request->length != HCA_PAGE || !(request->flags & MAP_SHARED))
		return -EINVAL;
	if (CMD_OF(page) == MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES)
		return -ENOSYS;
	if (CMD_OF(page) == MLX5_IB_MMAP_CORE_CLOCK)
		return map_clock(ufile, 0, request, file_offset);
	if (CMD_OF(page) == MLX5_IB_MMAP_CLOCK_INFO)
		return map_clock(ufile, 1, request, file_offset);
	slot = INDEX_OF(page);
	if (CMD_OF(page) != FIRST_UAR_CMD || slot > UINT16_MAX ||
	    !slot_is_taken(ufile, (uint32_t)slot))
		return -EINVAL;
	*file_offset = (FIRST_UAR_IN_FILE + slot) * HCA_PAGE;
	return hca_ufile_map(ufile, true);
}
