/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include "cmdlog/validate.h"

#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>

const char *const fixture_names[N_FIXTURES] = {
    "devinfo",	  "rc_pingpong",  "rc_pingpong_events", "rping",
    "send_bw_q4", "srq_pingpong", "ud_pingpong",	"write_lat",
};

struct wv_cmdlog *fixture_load(const char *name)
{
	char path[512];
	struct stat st;
	void *data;
	wv_auto_fd fd = -1;

	snprintf(path, sizeof(path), WV_FIXTURES "/%s.0.record", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		fail_msg("%s: %s", path, strerror(errno));
	data = malloc((size_t)st.st_size);
	assert_int_equal(read(fd, data, (size_t)st.st_size), st.st_size);
	assert_int_equal(wv_cmdlog_check(data, (size_t)st.st_size, WV_RECORD), 0);
	return data;
}

void *copy_exactly(const void *data, size_t bytes)
{
	void *copy = malloc(bytes);

	assert_non_null(copy);
	memcpy(copy, data, bytes);
	return copy;
}

struct wv_cmdlog *recipe_of(struct wv_cmdlog *record)
{
	wv_auto_free void *memory = malloc(WV_CMDLOG_MAX_BYTES);
	struct wv_cmdlog *recipe = memory;

	assert_int_equal(wv_normalise(record, memory, WV_CMDLOG_MAX_BYTES), 0);
	assert_int_equal(wv_cmdlog_check(recipe, recipe->bytes, WV_RECIPE), 0);
	return copy_exactly(recipe, recipe->bytes);
}

struct wv_cmdlog *fixture_recipe(const char *name)
{
	wv_auto_free struct wv_cmdlog *record = fixture_load(name);

	return recipe_of(record);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

int remove_tree(const char *path)
{
	return nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

struct wv_step *tape_step(struct wv_cmdlog *cmdlog, unsigned int index)
{
	wv_each_step (cmdlog, step)
		if (!index--)
			return step;
	fail_msg("the command log is too short");
	return NULL;
}

const char *step_name(const struct wv_step *step)
{
	return wv_step_row(step)->name;
}

struct wv_step *tape_find(struct wv_cmdlog *cmdlog, const char *name, unsigned int nth)
{
	wv_each_step (cmdlog, step)
		if (!strcmp(step_name(step), name) && !nth--)
			return step;
	fail_msg("no such step: %s", name);
	return NULL;
}

unsigned int step_index(struct wv_cmdlog *cmdlog, const struct wv_step *wanted)
{
	unsigned int index = 0;

	wv_each_step (cmdlog, step) {
		if (step == wanted)
			break;
		index++;
	}
	return index;
}

void *step_input(struct wv_step *step, uint16_t id)
{
	struct wv_attr *attr = wv_step_attr(step, id);

	assert_non_null(attr);
	assert_int_not_equal(attr->payload, 0);
	return wv_step_at(step, attr->payload);
}

struct ib_uverbs_modify_qp *step_modify(struct wv_step *step)
{
	assert_int_equal(step->write_cmd, IB_USER_VERBS_CMD_MODIFY_QP);
	return step_input(step, UVERBS_ATTR_CORE_IN);
}

void assert_steps(struct wv_cmdlog *cmdlog, const char *names)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	wv_each_step (cmdlog, step)
		fprintf(out, "%s%s", step == wv_cmdlog_first(cmdlog) ? "" : " ", step_name(step));
	fclose(out);
	assert_string_equal(text, names);
	free(text);
}

void command_init(struct command *cmd, uint16_t object, uint16_t method)
{
	*cmd = (struct command){.hdr = {
				    .length = sizeof(cmd->hdr),
				    .object_id = object,
				    .method_id = method,
				    .driver_id = RDMA_DRIVER_RXE,
				}};
}

static struct ib_uverbs_attr *append(struct command *cmd, uint16_t id, size_t len)
{
	struct ib_uverbs_attr *attr = &cmd->attrs[cmd->hdr.num_attrs++];

	assert_true(cmd->hdr.num_attrs <= WV_ARRAY_SIZE(cmd->attrs));
	cmd->hdr.length = (uint16_t)(cmd->hdr.length + sizeof(*attr));
	*attr = (struct ib_uverbs_attr){
	    .attr_id = id, .len = (uint16_t)len, .flags = UVERBS_ATTR_F_MANDATORY};
	return attr;
}

struct ib_uverbs_attr *command_in(struct command *cmd, uint16_t id, const void *data, size_t len)
{
	struct ib_uverbs_attr *attr = append(cmd, id, len);

	if (len <= sizeof(attr->data))
		memcpy(&attr->data, data, len);
	else
		attr->data = (uintptr_t)data;
	return attr;
}

struct ib_uverbs_attr *command_out(struct command *cmd, uint16_t id, void *data, size_t len)
{
	struct ib_uverbs_attr *attr = append(cmd, id, len);

	attr->data = (uintptr_t)data;
	return attr;
}

struct ib_uverbs_attr *command_object(struct command *cmd, uint16_t id, uint64_t number)
{
	struct ib_uverbs_attr *attr = append(cmd, id, 0);

	attr->data = number;
	return attr;
}

void command_legacy(struct command *cmd, uint32_t write_cmd, const void *in, size_t in_bytes,
		    void *out, size_t out_bytes)
{
	uint64_t number = write_cmd;

	command_init(cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	command_in(cmd, UVERBS_ATTR_WRITE_CMD, &number, sizeof(number));
	if (in)
		command_in(cmd, UVERBS_ATTR_CORE_IN, in, in_bytes);
	if (out)
		command_out(cmd, UVERBS_ATTR_CORE_OUT, out, out_bytes);
}

struct ib_uverbs_modify_qp connecting_move(enum ibv_qp_state to, uint32_t qp,
					   const struct wv_qp_peer *peer)
{
	const uint32_t rtr = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	const uint32_t rts = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			     IBV_QP_MAX_QP_RD_ATOMIC;
	struct ib_uverbs_modify_qp move = {
	    .qp_handle = qp,
	    .qp_state = (uint8_t)to,
	    .attr_mask = IBV_QP_STATE | (to == IBV_QPS_RTR ? rtr : rts),
	};

	if (to == IBV_QPS_RTR) {
		move.dest = (struct ib_uverbs_qp_dest){.is_global = 1, .port_num = 1};
		move.path_mtu = IBV_MTU_1024;
		move.max_dest_rd_atomic = 1;
		move.min_rnr_timer = 12;
	} else {
		move.timeout = 14;
		move.retry_cnt = move.rnr_retry = 7;
		move.max_rd_atomic = 1;
	}
	wv_qp_set_peer(&move, peer);
	wv_qp_set_psns(&move, peer);
	return move;
}

struct wv_cmdlog *record_of_moves(const struct ib_uverbs_modify_qp *rtr,
				  const struct ib_uverbs_modify_qp *rts)
{
	_Alignas(8) uint8_t memory[WV_MOVES_MAX_BYTES];
	const struct ib_uverbs_modify_qp *moves[] = {rtr, rts};
	struct wv_cmdlog_writer w;
	struct command cmd;

	wv_cmdlog_begin(&w, memory, sizeof(memory), WV_RECORD, RDMA_DRIVER_RXE);
	for (unsigned int i = 0; i < 2; i++) {
		command_legacy(&cmd, IB_USER_VERBS_CMD_MODIFY_QP, moves[i], sizeof(*moves[i]), NULL,
			       0);
		assert_int_equal(wv_record_command(&w, &cmd.hdr, command_row(&cmd), NULL), 0);
		wv_record_answer(&w, &cmd.hdr, command_row(&cmd), 0);
	}
	assert_int_equal(wv_cmdlog_check(w.cmdlog, w.cmdlog->bytes, WV_RECORD), 0);
	return copy_exactly(w.cmdlog, w.cmdlog->bytes);
}

struct wv_cmdlog *moves_of(uint32_t qp, const struct wv_qp_peer *peer)
{
	struct ib_uverbs_modify_qp rtr = connecting_move(IBV_QPS_RTR, qp, peer);
	struct ib_uverbs_modify_qp rts = connecting_move(IBV_QPS_RTS, qp, peer);

	return record_of_moves(&rtr, &rts);
}

const struct wv_command_row *command_row(const struct command *cmd)
{
	return wv_abi_find(cmd->hdr.driver_id, cmd->hdr.object_id, cmd->hdr.method_id,
			   wv_abi_write_cmd(&cmd->hdr));
}

struct ib_uverbs_attr *command_attr(struct command *cmd, uint16_t id)
{
	for (unsigned int i = 0; i < cmd->hdr.num_attrs; i++)
		if (cmd->attrs[i].attr_id == id)
			return &cmd->attrs[i];
	fail_msg("no attribute %#x", id);
	return NULL;
}

unsigned int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

uint64_t pseudo_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}
