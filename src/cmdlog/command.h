/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Commands in the kernel's form: made from a step, and read by the rows of the ABI table.
 */
#pragma once

#include "cmdlog/cmdlog.h"

struct wv_command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[WV_CMDLOG_MAX_ATTRS];
};

/*
 * Fills in @cmd from a step of a lease. @cmd points into the step's payloads, and the kernel writes
 * its answers there. @fds: the descriptors of the slots; @token: the user handle to give.
 */
void wv_command_fill(struct wv_command *cmd, struct wv_step *step, uint32_t driver_id,
		     const int *fds, uint64_t token);

/* Copies a command, without what it points to. False: it has too many attributes. */
bool wv_command_copy(struct wv_command *copy, const struct ib_uverbs_ioctl_hdr *cmd);

/* The attribute @id of @cmd, or NULL. */
struct ib_uverbs_attr *wv_command_attr(const struct ib_uverbs_ioctl_hdr *cmd, uint16_t id);

/*
 * Calls @visit for every named field of @cmd's inputs, as wv_step_fields() does. @visit must not
 * change the payloads, which are the program's.
 */
int wv_command_fields(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
		      wv_visit_field visit, void *data);

/* The first field of @kind, of 4 bytes, inside the struct at @bytes; WV_NONE if there is none. */
uint32_t wv_field_of(const struct wv_attr_row *known, const uint8_t *bytes, size_t len,
		     enum wv_kind kind);

/*
 * The handle of the object that @cmd destroys, moves or reads: the first handle in the command, as
 * an attribute or inside CORE_IN. WV_NONE if there is none.
 */
uint32_t wv_command_target(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row);

/* The handle, descriptor or number (@kind) that the kernel gave @cmd; WV_NONE if none. */
uint32_t wv_command_made(const struct ib_uverbs_ioctl_hdr *cmd, const struct wv_command_row *row,
			 enum wv_kind kind);
