/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the kernel and its driver refuse. Each row takes a command of the real library and changes
 * one thing in it on the way; unchanged, the command is accepted.
 */
#include "shared_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* What to change: in the header, in an attribute, or in what it points to. */
enum change {
	OR,	 /* a word of the attribute's bytes, with @value */
	SET,	 /* the same, to @value */
	LENGTH,	 /* the attribute's */
	DATA,	 /* the attribute's inline word */
	RENAME,	 /* the attribute, to id @value */
	RESERVE, /* the attribute's reserved byte */
	NUMBER,	 /* of attributes in the header, without its length */
	HEADER,	 /* one of the header's words, at @offset */
};

struct row {
	const char *what;
	uint16_t object, method;
	enum change change;
	uint16_t attr, offset;
	uint64_t value;
	int error;
	bool (*run)(void); /* the verb; true if it was accepted, and is undone */
};

static const struct row *current;

static void change_bytes(struct ib_uverbs_attr *attr)
{
	uint8_t *bytes = attr->len > 8 ? (uint8_t *)(uintptr_t)attr->data : (uint8_t *)&attr->data;
	uint32_t word;

	memcpy(&word, bytes + current->offset, sizeof(word));
	word = current->change == OR ? word | (uint32_t)current->value : (uint32_t)current->value;
	memcpy(bytes + current->offset, &word, sizeof(word));
}

static void change(struct ib_uverbs_ioctl_hdr *cmd)
{
	struct ib_uverbs_attr *attr = find_attr(cmd, current->attr);
	uint32_t word = (uint32_t)current->value;

	switch (current->change) {
	case OR:
	case SET:
		assert_non_null(attr);
		change_bytes(attr);
		break;
	case LENGTH:
		attr->len = (uint16_t)current->value;
		break;
	case DATA:
		attr->data = current->value;
		break;
	case RENAME:
		attr->attr_id = (uint16_t)current->value;
		break;
	case RESERVE:
		attr->attr_data.enum_data.reserved = 1;
		break;
	case NUMBER:
		cmd->num_attrs = (uint16_t)current->value;
		break;
	case HEADER:
		memcpy((char *)cmd + current->offset, &word, sizeof(word));
		break;
	}
}

static int refused_with;

/* Gives the changed command; the library gets an error after which it does not retry. */
static int hook(int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	char copy[4096], uhw[256];
	struct ib_uverbs_ioctl_hdr *mine = (void *)copy;
	struct ib_uverbs_attr *attr;

	if (!current || cmd->object_id != current->object || cmd->method_id != current->method)
		return 0;
	if (!current->error) {
		change(cmd);
		refused_with = 0;
		return 0;
	}
	memcpy(copy, cmd, cmd->length);
	attr = find_attr(mine, current->attr);
	/* A copy of the bytes, so that the library does not see the change. */
	if (attr && attr->len > 8 && attr->len <= sizeof(uhw)) {
		memcpy(uhw, (void *)(uintptr_t)attr->data, attr->len);
		attr->data = (uintptr_t)uhw;
	}
	change(mine);
	command_hook = NULL;
	refused_with = ioctl(fd, RDMA_VERBS_IOCTL, mine) ? errno : 0;
	command_hook = hook;
	return EINVAL;
}

static bool run_cq(void)
{
	struct ibv_cq *cq = ibv_create_cq(kit.context, 10, NULL, kit.channel, 0);

	return cq && ibv_destroy_cq(cq) == 0;
}

static bool run_srq(void)
{
	struct ibv_srq_init_attr attr = {.attr = {.max_wr = 10, .max_sge = 1}};
	struct ibv_srq *srq = ibv_create_srq(kit.pd, &attr);

	return srq && ibv_destroy_srq(srq) == 0;
}

static bool run_qp(enum qp_kind kind)
{
	struct ibv_qp *qp = make_qp(&kit, kind);

	return qp && ibv_destroy_qp(qp) == 0;
}

static bool run_rc(void)
{
	return run_qp(RC);
}

static bool run_dci(void)
{
	return run_qp(DCI);
}

static bool run_dct(void)
{
	return run_qp(DCT);
}

static bool run_pd(void)
{
	struct ibv_pd *pd = ibv_alloc_pd(kit.context);

	return pd && ibv_dealloc_pd(pd) == 0;
}

static bool run_init(void)
{
	struct ibv_qp *qp = must_make_qp(&kit, RC);
	bool accepted = step_qp(qp, RC, IBV_QPS_INIT) == 0;

	return ibv_destroy_qp(qp) == 0 && accepted;
}

static bool run_dct_init(void)
{
	struct ibv_qp *qp = must_make_qp(&kit, DCT);
	bool accepted = step_qp(qp, DCT, IBV_QPS_INIT) == 0;

	return ibv_destroy_qp(qp) == 0 && accepted;
}

static bool run_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = ibv_open_device(list[0]);

	ibv_free_device_list(list);
	return context && ibv_close_device(context) == 0;
}

#define CQ	 UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE
#define SRQ	 UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE
#define QP	 UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE
#define WRITE	 UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE
#define OPEN	 UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT
#define UHW	 UVERBS_ATTR_UHW_IN
#define AT(s, m) offsetof(struct mlx5_ib_##s, m)
#define HDR(m)	 offsetof(struct ib_uverbs_ioctl_hdr, m)

static const struct row rows[] = {
    {"a length that is not that of the attributes", CQ, NUMBER, 0, 0, 3, EINVAL, run_cq},
    {"a length of nothing", CQ, HEADER, 0, HDR(length), UVERBS_OBJECT_CQ << 16, EINVAL, run_cq},
    {"reserved1", CQ, HEADER, 0, HDR(reserved1), 1, EPROTONOSUPPORT, run_cq},
    {"reserved2", CQ, HEADER, 0, HDR(reserved2), 1, EPROTONOSUPPORT, run_cq},
    {"another driver", CQ, HEADER, 0, HDR(driver_id), RDMA_DRIVER_RXE, EINVAL, run_cq},
    {"a method that is not there", CQ, HEADER, 0, HDR(method_id), 9 | 9 << 16, EPROTONOSUPPORT,
     run_cq},
    {"an unknown attribute", CQ, RENAME, UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, 77, 0, run_cq},
    {"an unknown attribute that must be known", CQ, RENAME, UVERBS_ATTR_CREATE_CQ_RESP_CQE, 0, 77,
     EPROTONOSUPPORT, run_cq},
    {"the same attribute twice", CQ, RENAME, UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0,
     UVERBS_ATTR_CREATE_CQ_CQE, EINVAL, run_cq},
    {"a reserved byte of an attribute", CQ, RESERVE, UVERBS_ATTR_CREATE_CQ_CQE, 0, 0, EINVAL,
     run_cq},
    {"a number of no length", CQ, LENGTH, UVERBS_ATTR_CREATE_CQ_CQE, 0, 0, EINVAL, run_cq},
    {"a handle with a length", QP, LENGTH, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, 4, EINVAL, run_rc},
    {"a handle that is free", QP, DATA, UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, 4000, ENOENT, run_rc},
    {"a handle of another kind", QP, DATA, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, 0, EINVAL,
     run_rc},
    {"a channel that is none", CQ, DATA, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, 0, EBADF, run_cq},
    {"an event file that is closed", QP, DATA, UVERBS_ATTR_CREATE_QP_EVENT_FD, 0, 500, EBADF,
     run_rc},

    {"GET_CONTEXT: unknown flags", OPEN, OR, UHW, AT(alloc_ucontext_req_v2, flags), 2, EINVAL,
     run_open},
    {"GET_CONTEXT: comp_mask", OPEN, SET, UHW, AT(alloc_ucontext_req_v2, comp_mask), 1, EOPNOTSUPP,
     run_open},
    {"GET_CONTEXT: reserved2", OPEN, SET, UHW, AT(alloc_ucontext_req_v2, reserved2), 1, EOPNOTSUPP,
     run_open},
    {"GET_CONTEXT: no registers", OPEN, SET, UHW, AT(alloc_ucontext_req_v2, total_num_bfregs), 0,
     EINVAL, run_open},
    {"GET_CONTEXT: too short", OPEN, LENGTH, UHW, 0, 12, EINVAL, run_open},

    {"CQ: unknown flags", CQ, OR, UHW, AT(create_cq, flags), 0x80, EINVAL, run_cq},
    {"CQ: size of records", CQ, SET, UHW, AT(create_cq, cqe_size), 32, EINVAL, run_cq},
    {"CQ: compression", CQ, OR, UHW, AT(create_cq, cqe_comp_en), 1, EOPNOTSUPP, run_cq},
    {"CQ: reserved1", CQ, SET, UHW, AT(create_cq, reserved1), 1, EINVAL, run_cq},
    {"CQ: reserved0", CQ, OR, UHW, AT(create_cq, uar_page_index), 1 << 16, EINVAL, run_cq},
    {"CQ: somebody else's region", CQ, SET, UHW, AT(create_cq, uar_page_index), 0x3ff, EINVAL,
     run_cq},
    {"CQ: buffer off its grid", CQ, OR, UHW, AT(create_cq, buf_addr), 8, EINVAL, run_cq},
    {"CQ: doorbell record off its grid", CQ, OR, UHW, AT(create_cq, db_addr), 4, EINVAL, run_cq},
    {"CQ: no memory there", CQ, SET, UHW, AT(create_cq, buf_addr) + 4, 0x7ff0, EFAULT, run_cq},
    {"CQ: too short", CQ, LENGTH, UHW, 0, 16, EINVAL, run_cq},
    {"CQ: too many", CQ, DATA, UVERBS_ATTR_CREATE_CQ_CQE, 0, 1 << 22, EINVAL, run_cq},
    {"CQ: vector", CQ, DATA, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 0, 4, EINVAL, run_cq},

    {"SRQ: unknown flags", SRQ, OR, UHW, AT(create_srq, flags), 2, EINVAL, run_srq},
    {"SRQ: reserved0", SRQ, SET, UHW, AT(create_srq, reserved0), 1, EINVAL, run_srq},
    {"SRQ: reserved1", SRQ, SET, UHW, AT(create_srq, reserved1), 1, EINVAL, run_srq},
    {"SRQ: another type", SRQ, DATA, UVERBS_ATTR_CREATE_SRQ_TYPE, 0, IBV_SRQT_TM, EOPNOTSUPP,
     run_srq},
    {"SRQ: too many", SRQ, DATA, UVERBS_ATTR_CREATE_SRQ_MAX_WR, 0, 1 << 16, EINVAL, run_srq},

    {"QP: unknown flags", QP, OR, UHW, AT(create_qp, flags), 1u << 30, EINVAL, run_rc},
    {"QP: RC that is a DCT", QP, OR, UHW, AT(create_qp, flags), MLX5_QP_FLAG_TYPE_DCT, EINVAL,
     run_rc},
    {"QP: DCI that is a DCT", QP, OR, UHW, AT(create_qp, flags), MLX5_QP_FLAG_TYPE_DCT, EINVAL,
     run_dci},
    {"QP: driver's own, of no type", QP, SET, UHW, AT(create_qp, flags), 0, EINVAL, run_dct},
    {"QP: reserved", QP, OR, UHW, AT(create_qp, dci_streams), 1 << 16, EINVAL, run_rc},
    {"QP: send queue not a power of two", QP, SET, UHW, AT(create_qp, sq_wqe_count), 3, EINVAL,
     run_rc},
    {"QP: send queue too long", QP, SET, UHW, AT(create_qp, sq_wqe_count), 1 << 16, EINVAL, run_rc},
    {"QP: receive queue too wide", QP, SET, UHW, AT(create_qp, rq_wqe_shift), 33, EINVAL, run_rc},
    {"QP: user index of 25 bits", QP, SET, UHW, AT(create_qp, uidx), 1 << 24, EINVAL, run_rc},
    {"QP: the user index for none", QP, SET, UHW, AT(create_qp, uidx), 0xffffff, EINVAL, run_rc},
    {"QP: somebody else's region", QP, SET, UHW, AT(create_qp, bfreg_index), 0x3ff, EINVAL, run_rc},
    {"QP: too short", QP, LENGTH, UHW, 0, 40, EINVAL, run_rc},
    {"QP: unknown type", QP, DATA, UVERBS_ATTR_CREATE_QP_TYPE, 0, 77, EINVAL, run_rc},
    {"QP: XRC", QP, DATA, UVERBS_ATTR_CREATE_QP_TYPE, 0, IB_UVERBS_QPT_XRC_INI, EOPNOTSUPP, run_rc},

    {"a legacy command too short", WRITE, LENGTH, UVERBS_ATTR_CORE_OUT, 0, 2, ENOSPC, run_pd},
    {"modify: unknown attributes", WRITE, OR, UVERBS_ATTR_CORE_IN,
     offsetof(struct ib_uverbs_modify_qp, attr_mask), 1 << 27, EOPNOTSUPP, run_init},
    {"modify: unknown state", WRITE, OR, UVERBS_ATTR_CORE_IN,
     offsetof(struct ib_uverbs_modify_qp, qp_state), 0xff, EINVAL, run_init},
    {"modify: unknown driver comp_mask", WRITE, SET, UHW, AT(modify_qp, comp_mask), 1, EOPNOTSUPP,
     run_dct_init},
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		bool accepted;

		command_hook = NULL;
		if (!row->run())
			fail_msg("%s: refused as it is: %s", row->what, strerror(errno));
		refused_with = -1;
		current = row;
		command_hook = hook;
		accepted = row->run();
		command_hook = NULL;
		current = NULL;
		if (accepted != !row->error)
			fail_msg("%s: %s", row->what, accepted ? "accepted" : "refused");
		if (refused_with != row->error)
			fail_msg("%s: %s instead of %s", row->what,
				 refused_with < 0 ? "never given" : strerror(refused_with),
				 strerror(row->error));
	}
}

/* Queues in the pages of another: the library's hook for allocations returns them twice. */
static void check_second_pin(void *memory)
{
	struct ibv_context *context = open_device();
	struct ibv_cq *cq, *again;

	place_queues(context, memory);
	cq = ibv_create_cq(context, 10, NULL, NULL, 0);
	assert_non_null(cq);
	place_queues(context, memory);
	again = ibv_create_cq(context, 10, NULL, NULL, 0);
	assert_null(again);
	assert_int_equal(errno, EEXIST);
	assert_int_equal(ibv_destroy_cq(cq), 0);
	place_queues(context, memory);
	again = ibv_create_cq(context, 10, NULL, NULL, 0);
	assert_non_null(again);
	assert_int_equal(ibv_destroy_cq(again), 0);
	assert_int_equal(ibv_close_device(context), 0);
}

static void test_second_pin(void **state)
{
	size_t bytes = 1 << 20;
	int fd = memfd_create("arena", MFD_CLOEXEC);
	void *shared, *private;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)bytes), 0);
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	private = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check_second_pin(shared);
	check_second_pin(private);
	munmap(shared, bytes);
	munmap(private, bytes);
	close(fd);
}

/* An event file of another context is refused. */
static int foreign_fd;

static int use_foreign(int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	(void)fd;
	if (cmd->object_id == UVERBS_OBJECT_CQ && cmd->method_id == UVERBS_METHOD_CQ_CREATE)
		find_attr(cmd, UVERBS_ATTR_CREATE_CQ_EVENT_FD)->data_s64 = foreign_fd;
	return 0;
}

static void test_foreign_event_file(void **state)
{
	struct ibv_context *other = open_device();

	(void)state;
	foreign_fd = other->async_fd;
	command_hook = use_foreign;
	assert_null(ibv_create_cq(kit.context, 10, NULL, NULL, 0));
	assert_int_equal(last_error, EBADF);
	command_hook = NULL;
	ibv_close_device(other);
}

/* Before GET_CONTEXT all is refused. libibverbs probes this with a short command. */
static void test_before_context(void **state)
{
	struct {
		struct ib_uverbs_ioctl_hdr header;
		struct ib_uverbs_attr attrs[1];
	} cmd = {.header = {.length = sizeof(cmd),
			    .object_id = UVERBS_OBJECT_DEVICE,
			    .method_id = UVERBS_METHOD_INVOKE_WRITE,
			    .num_attrs = 1,
			    .driver_id = RDMA_DRIVER_MLX5}};
	int fd = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);

	(void)state;
	cmd.attrs[0] = (struct ib_uverbs_attr){.attr_id = UVERBS_ATTR_WRITE_CMD,
					       .len = 8,
					       .flags = UVERBS_ATTR_F_MANDATORY,
					       .data = IB_USER_VERBS_CMD_QUERY_DEVICE};
	assert_int_equal(ioctl(fd, RDMA_VERBS_IOCTL, &cmd), -1);
	assert_int_equal(errno, ENOSPC);
	cmd.attrs[0].data = IB_USER_VERBS_CMD_ALLOC_PD;
	assert_int_equal(ioctl(fd, RDMA_VERBS_IOCTL, &cmd), -1);
	assert_int_equal(errno, EINVAL);
	cmd.header.length = 0;
	assert_int_equal(ioctl(fd, RDMA_VERBS_IOCTL, &cmd), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(ioctl(fd, 0x5401, &cmd), -1);
	assert_int_equal(errno, ENOTTY);
	close(fd);
}

static int tear_down(void **state)
{
	command_hook = NULL;
	return tear_down_kit(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows),
	    cmocka_unit_test(test_second_pin),
	    cmocka_unit_test(test_foreign_event_file),
	    cmocka_unit_test(test_before_context),
	};

	return cmocka_run_group_tests(tests, set_up_kit, tear_down);
}
