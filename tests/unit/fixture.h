/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the codec's tests share: recorded command logs, and commands built by hand.
 *
 * Memory of command logs is allocated at exactly their size, so that the address sanitizer sees the
 * first byte that is read beyond.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/base.h"
#include "cmdlog/cmdlog.h"
#include "cmdlog/command.h"
#include "cmdlog/normalise.h"
#include "cmdlog/qp_steps.h"
#include "cmdlog/record.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <string.h>

#define N_FIXTURES 8
extern const char *const fixture_names[N_FIXTURES];

/* A recorded command log; the caller frees it. */
struct wv_cmdlog *fixture_load(const char *name);

/* The recipe of a record, and of a recorded command log; the caller frees it. */
struct wv_cmdlog *recipe_of(struct wv_cmdlog *record);
struct wv_cmdlog *fixture_recipe(const char *name);

/* A copy in memory of exactly @bytes; the caller frees it. */
void *copy_exactly(const void *data, size_t bytes);

/* Removes a folder and all in it. 0, or -1 and errno. */
int remove_tree(const char *path);

struct wv_step *tape_step(struct wv_cmdlog *cmdlog, unsigned int index);
/* The @nth step (from 0) of that name in the ABI table; it must be there. */
struct wv_step *tape_find(struct wv_cmdlog *cmdlog, const char *name, unsigned int nth);
const char *step_name(const struct wv_step *step);
unsigned int step_index(struct wv_cmdlog *cmdlog, const struct wv_step *step);

/* The input of attribute @id, to be read or changed; it must be there. */
void *step_input(struct wv_step *step, uint16_t id);
struct ib_uverbs_modify_qp *step_modify(struct wv_step *step);

/* The steps' names, with a blank between, in the order of the command log. */
void assert_steps(struct wv_cmdlog *cmdlog, const char *names);

/* A command as libibverbs builds it. */
struct command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[WV_CMDLOG_MAX_ATTRS + 1];
};

void command_init(struct command *cmd, uint16_t object, uint16_t method);
struct ib_uverbs_attr *command_in(struct command *cmd, uint16_t id, const void *data, size_t len);
struct ib_uverbs_attr *command_out(struct command *cmd, uint16_t id, void *data, size_t len);
/* A handle, a descriptor, or the room for a new one. */
struct ib_uverbs_attr *command_object(struct command *cmd, uint16_t id, uint64_t number);

/* A legacy command; @in and @out may be NULL. */
void command_legacy(struct command *cmd, uint32_t write_cmd, const void *in, size_t in_bytes,
		    void *out, size_t out_bytes);

const struct wv_command_row *command_row(const struct command *cmd);
struct ib_uverbs_attr *command_attr(struct command *cmd, uint16_t id);

/* Moves an RC queue pair to RTR or RTS, as programs do. */
struct ib_uverbs_modify_qp connecting_move(enum ibv_qp_state to, uint32_t qp,
					   const struct wv_qp_peer *peer);
/* A record of both moves; the caller frees it. */
struct wv_cmdlog *record_of_moves(const struct ib_uverbs_modify_qp *rtr,
				  const struct ib_uverbs_modify_qp *rts);
struct wv_cmdlog *moves_of(uint32_t qp, const struct wv_qp_peer *peer);

/* Descriptors that this process has open: what was leaked, or closed twice, shows. */
unsigned int count_fds(void);

/* Same numbers in every run: splitmix64. */
uint64_t pseudo_random(uint64_t *state);
