#pragma once

#include "kernel.h"

/* True if @page_id is a user access region of @ufile. */
bool hca_has_uar(const struct hca_ufile *ufile, uint32_t page_id);

/*
 * A program maps a page of its uverbs file: returns a descriptor to be mapped in its place, the
 * caller's, at @file_offset; or -errno, as the driver: -EPERM for writing to the clock.
 */
int hca_mmap(struct hca_ufile *ufile, const struct standin_request *request, uint64_t *file_offset);
