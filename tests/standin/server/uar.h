/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "kernel.h"

/* True if @page_id is a user access region of @ufile. */
bool hca_has_uar(const struct hca_ufile *ufile, uint32_t page_id);

/*
 * A program maps a page of its uverbs file: returns a descriptor, the caller's, which is mapped
 * instead at @file_offset. Or the driver's -errno: -EPERM for writing to the clock.
 */
int hca_mmap(struct hca_ufile *ufile, const struct standin_request *request, uint64_t *file_offset);
