/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ABI table against itself, the installed kernel headers, and the list of what libibverbs 44
 * and its rxe and mlx5 providers issue (rdma-core 44: libibverbs/cmd*.c, device.c, verbs.c,
 * providers/rxe/rxe.c, providers/mlx5/).
 */
#include "abi/bounds.h"
#include "abi/compose.h"
#include "abi/data_path.h"
#include "abi/names.h"
#include "fixture.h"

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#define EX(cmd)	 (IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_##cmd)
#define CMD(cmd) IB_USER_VERBS_CMD_##cmd

static bool is_core(const struct wv_command_row *row)
{
	return row->driver_id == WV_ANY_DRIVER;
}

static bool is_legacy(const struct wv_command_row *row)
{
	return is_core(row) && row->write_cmd != WV_NO_WRITE_CMD;
}

static void test_rows_are_unique_and_found(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	assert_true(n > 0);
	for (unsigned int i = 0; i < n; i++) {
		const struct wv_command_row *r = &rows[i];

		/* The first that fits is found: a second never would be. */
		assert_ptr_equal(wv_abi_find(r->driver_id, r->object, r->method, r->write_cmd), r);
		assert_true(wv_abi_describes(r, r->driver_id, r->object, r->method, r->write_cmd));
		assert_ptr_equal(wv_abi_at(wv_abi_index(r)), r);
	}
	assert_null(wv_abi_at((uint8_t)n));
}

/* The first row of all that fits the command. */
static const struct wv_command_row *first_row(uint32_t id, const struct wv_command_row *like)
{
	unsigned int n;
	const struct wv_command_row *row = wv_abi_rows(&n), *end = row + n;

	while (row < end && !(row->object == like->object && row->method == like->method &&
			      row->write_cmd == like->write_cmd &&
			      (row->driver_id == WV_ANY_DRIVER || row->driver_id == id)))
		row++;
	return row < end ? row : NULL;
}

/* Whatever was looked for before: rows that were found lately are remembered. */
static void test_rows_are_found_again(void **state)
{
	static const uint32_t drivers[] = {WV_ANY_DRIVER, RDMA_DRIVER_RXE, RDMA_DRIVER_SIW,
					   RDMA_DRIVER_MLX5, RDMA_DRIVER_EFA};
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < 3 * n * WV_ARRAY_SIZE(drivers); i++) {
		uint32_t id = drivers[i % WV_ARRAY_SIZE(drivers)];
		const struct wv_command_row *like = &rows[i / WV_ARRAY_SIZE(drivers) % n];
		const struct wv_command_row *row = first_row(id, like);

		if (!row && like->write_cmd != WV_NO_WRITE_CMD)
			continue;
		for (int again = 0; again < 2; again++)
			assert_ptr_equal(
			    wv_abi_find(id, like->object, like->method, like->write_cmd), row);
	}
}

/* What the core's row says of a driver's command is not all that is to be said. */
static void test_a_driver_s_row_is_found_before_the_core_s(void **state)
{
	static const uint32_t drivers[] = {WV_ANY_DRIVER, RDMA_DRIVER_RXE, RDMA_DRIVER_MLX5};
	static const uint16_t commands[][2] = {
	    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE},
	    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE},
	    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE},
	};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(commands) * WV_ARRAY_SIZE(drivers); i++) {
		const uint16_t *c = commands[i % WV_ARRAY_SIZE(commands)];
		uint32_t id = drivers[i / WV_ARRAY_SIZE(commands)];
		const struct wv_command_row *core =
		    wv_abi_find(WV_ANY_DRIVER, c[0], c[1], WV_NO_WRITE_CMD);
		const struct wv_command_row *mlx5 =
		    wv_abi_find(RDMA_DRIVER_MLX5, c[0], c[1], WV_NO_WRITE_CMD);
		bool has_own = id == RDMA_DRIVER_MLX5;

		assert_ptr_not_equal(core, mlx5);
		assert_ptr_equal(wv_abi_find(id, c[0], c[1], WV_NO_WRITE_CMD),
				 has_own ? mlx5 : core);
		assert_int_equal(wv_abi_describes(core, id, c[0], c[1], WV_NO_WRITE_CMD), !has_own);
		assert_int_equal(wv_abi_describes(mlx5, id, c[0], c[1], WV_NO_WRITE_CMD), has_own);
		assert_false(wv_abi_describes(mlx5, id, c[0], 99, WV_NO_WRITE_CMD));
	}
}

/* Another driver's method of the same number is another command. */
static void test_a_driver_s_command_is_its_alone(void **state)
{
	(void)state;
	assert_null(wv_abi_find(RDMA_DRIVER_RXE, MLX5_IB_OBJECT_UAR, MLX5_IB_METHOD_UAR_OBJ_ALLOC,
				WV_NO_WRITE_CMD));
	assert_string_equal(wv_abi_find(RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_UAR,
					MLX5_IB_METHOD_UAR_OBJ_ALLOC, WV_NO_WRITE_CMD)
				->name,
			    "uar_obj_alloc");
	assert_null(wv_abi_find(RDMA_DRIVER_MLX5, UVERBS_OBJECT_PD, 99, WV_NO_WRITE_CMD));
}

/* Drivers first; then the core: ioctl methods by object, the data path, other legacy commands. */
static void test_rows_are_sorted(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 1; i < n; i++) {
		const struct wv_command_row *a = &rows[i - 1], *b = &rows[i];

		assert_true(is_core(b) || !is_core(a));
		if (!is_core(a))
			continue;
		assert_true(is_legacy(b) || !is_legacy(a));
		if (is_legacy(a) && a->class_ == WV_DATA && b->class_ != WV_DATA)
			continue;
		assert_true(!is_legacy(a) || a->class_ == WV_DATA || b->class_ != WV_DATA);
		if (is_legacy(a))
			assert_true(a->write_cmd < b->write_cmd);
		else if (!is_legacy(b))
			assert_true(a->object <= b->object);
	}
}

/* A number is carried in just these methods, and then every row says which. */
static void test_rows_of_carriers_say_what_is_carried(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		const struct wv_command_row *r = &rows[i];
		bool invokes =
		    r->object == UVERBS_OBJECT_DEVICE && r->method == UVERBS_METHOD_INVOKE_WRITE;
		bool firmware =
		    r->object == MLX5_IB_OBJECT_DEVX && r->method == MLX5_IB_METHOD_DEVX_OTHER;

		if (is_core(r))
			assert_int_equal(invokes, is_legacy(r));
		if (!firmware) /* of which one row is for all that have none of their own */
			assert_int_equal(invokes, r->write_cmd != WV_NO_WRITE_CMD);
	}
}

static void test_drivers_say_whether_they_have_rows(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	assert_false(wv_abi_driver(RDMA_DRIVER_RXE)->own_rows);
	for (unsigned int i = 0; i < n && !is_core(&rows[i]); i++)
		assert_true(wv_abi_driver(rows[i].driver_id)->own_rows);
}

static void test_what_has_no_row_of_its_own(void **state)
{
	const struct wv_command_row *row =
	    wv_abi_find(RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, 0x101);

	(void)state;
	assert_non_null(row);
	assert_int_equal(row->class_, WV_PASS);
	assert_null(
	    wv_abi_find(RDMA_DRIVER_MLX5, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 0x101));
}

/* The one row that is no command: nothing in the kernel can have its number. */
static void test_memory_is_no_command(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(rows[i].class_ == WV_MEMORY, rows[i].object == WV_OBJECT_MEMORY);
	assert_non_null(wv_abi_find(RDMA_DRIVER_MLX5, WV_OBJECT_MEMORY, 0, WV_NO_WRITE_CMD));
}

static void test_attributes_are_unique(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		assert_true(rows[i].n_attrs <= WV_ARRAY_SIZE(rows[i].attrs));
		assert_true(rows[i].n_attrs <= WV_CMDLOG_MAX_ATTRS);
		assert_true(strnlen(rows[i].name, sizeof(rows[i].name)) < sizeof(rows[i].name));
		for (unsigned int k = 0; k < rows[i].n_attrs; k++) {
			const struct wv_attr_row *attr = &rows[i].attrs[k];

			assert_true(attr->kind < WV_KINDS);
			assert_true(attr->n_fields <= WV_ARRAY_SIZE(attr->fields));
			assert_ptr_equal(wv_abi_attr(&rows[i], attr->id), attr);
		}
	}
}

/* What the kinds mean to the loops over the table. */
static void check_field(const struct wv_attr_row *attr, const struct wv_field *f)
{
	switch (f->kind) {
	case WV_HANDLE:
		assert_int_equal(attr->kind, WV_EQUAL);
		assert_int_equal(f->size, 4);
		break;
	case WV_NEW_HANDLE:
	case WV_NEW_FD:
	case WV_OUT: /* of an answer that wv_compose_destroy() has room for */
	case WV_NEW_NUMBER:
		assert_int_equal(attr->kind, WV_OUT);
		assert_int_equal(f->size, 4);
		break;
	case WV_NUMBER: /* its top bit and a step's number beside it */
		assert_int_equal(attr->kind, WV_EQUAL);
		assert_true(f->size == 4 || f->size == 2);
		break;
	case WV_POINTER:
	case WV_BUFFER:
	case WV_DOORBELL:
	case WV_IOVA:
		assert_int_equal(attr->kind, WV_EQUAL);
		assert_int_equal(f->size, 8);
		break;
	default:
		assert_true(f->kind == WV_VOLATILE || f->kind == WV_VECTOR);
		assert_int_equal(attr->kind, WV_EQUAL);
	}
}

static void test_fields_are_of_kinds_that_are_handled(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < rows[i].n_attrs; k++) {
			const struct wv_attr_row *attr = &rows[i].attrs[k];

			for (unsigned int f = 0; f < attr->n_fields; f++)
				check_field(attr, &attr->fields[f]);
		}
}

#define STRUCTS(in, out) sizeof(struct in), sizeof(struct out)
#define IN(in)		 sizeof(struct in), 0

/* The structs of every legacy command that has fields in the table. */
static const struct {
	uint32_t write_cmd;
	size_t in, out;
} structs[] = {
    {CMD(QUERY_DEVICE), STRUCTS(ib_uverbs_query_device, ib_uverbs_query_device_resp)},
    {CMD(QUERY_PORT), STRUCTS(ib_uverbs_query_port, ib_uverbs_query_port_resp)},
    {CMD(ALLOC_PD), STRUCTS(ib_uverbs_alloc_pd, ib_uverbs_alloc_pd_resp)},
    {CMD(DEALLOC_PD), IN(ib_uverbs_dealloc_pd)},
    {CMD(CREATE_AH), STRUCTS(ib_uverbs_create_ah, ib_uverbs_create_ah_resp)},
    {CMD(DESTROY_AH), IN(ib_uverbs_destroy_ah)},
    {CMD(REG_MR), STRUCTS(ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp)},
    {CMD(REREG_MR), STRUCTS(ib_uverbs_rereg_mr, ib_uverbs_rereg_mr_resp)},
    {CMD(DEREG_MR), IN(ib_uverbs_dereg_mr)},
    {CMD(ALLOC_MW), STRUCTS(ib_uverbs_alloc_mw, ib_uverbs_alloc_mw_resp)},
    {CMD(DEALLOC_MW), IN(ib_uverbs_dealloc_mw)},
    {CMD(CREATE_COMP_CHANNEL),
     STRUCTS(ib_uverbs_create_comp_channel, ib_uverbs_create_comp_channel_resp)},
    {CMD(RESIZE_CQ), STRUCTS(ib_uverbs_resize_cq, ib_uverbs_resize_cq_resp)},
    {CMD(DESTROY_CQ), STRUCTS(ib_uverbs_destroy_cq, ib_uverbs_destroy_cq_resp)},
    {CMD(QUERY_QP), STRUCTS(ib_uverbs_query_qp, ib_uverbs_query_qp_resp)},
    {CMD(MODIFY_QP), IN(ib_uverbs_modify_qp)},
    {CMD(DESTROY_QP), STRUCTS(ib_uverbs_destroy_qp, ib_uverbs_destroy_qp_resp)},
    {CMD(ATTACH_MCAST), IN(ib_uverbs_attach_mcast)},
    {CMD(DETACH_MCAST), IN(ib_uverbs_detach_mcast)},
    {CMD(QUERY_SRQ), STRUCTS(ib_uverbs_query_srq, ib_uverbs_query_srq_resp)},
    {CMD(DESTROY_SRQ), STRUCTS(ib_uverbs_destroy_srq, ib_uverbs_destroy_srq_resp)},
    {CMD(OPEN_XRCD), STRUCTS(ib_uverbs_open_xrcd, ib_uverbs_open_xrcd_resp)},
    {CMD(CLOSE_XRCD), IN(ib_uverbs_close_xrcd)},
    {CMD(OPEN_QP), STRUCTS(ib_uverbs_open_qp, ib_uverbs_create_qp_resp)},
    {EX(MODIFY_QP), STRUCTS(ib_uverbs_ex_modify_qp, ib_uverbs_ex_modify_qp_resp)},
    {EX(CREATE_FLOW), STRUCTS(ib_uverbs_create_flow, ib_uverbs_create_flow_resp)},
    {EX(CREATE_RWQ_IND_TBL),
     STRUCTS(ib_uverbs_ex_create_rwq_ind_table, ib_uverbs_ex_create_rwq_ind_table_resp)},
};

/* The same of ioctl methods. */
static const struct {
	uint16_t object, attr;
	size_t size;
} ioctl_structs[] = {
    {UVERBS_OBJECT_CQ, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, sizeof(uint32_t)},
    {UVERBS_OBJECT_CQ, UVERBS_ATTR_DESTROY_CQ_RESP, sizeof(struct ib_uverbs_destroy_cq_resp)},
    {UVERBS_OBJECT_QP, UVERBS_ATTR_DESTROY_QP_RESP, sizeof(struct ib_uverbs_destroy_qp_resp)},
    {UVERBS_OBJECT_SRQ, UVERBS_ATTR_DESTROY_SRQ_RESP, sizeof(struct ib_uverbs_destroy_srq_resp)},
};

/* The same of mlx5's own payloads. */
static const struct {
	uint16_t object, attr;
	size_t size;
} mlx5_structs[] = {
    {UVERBS_OBJECT_CQ, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, sizeof(uint32_t)},
    {UVERBS_OBJECT_CQ, UVERBS_ATTR_UHW_IN, sizeof(struct mlx5_ib_create_cq)},
    {UVERBS_OBJECT_QP, UVERBS_ATTR_UHW_IN, sizeof(struct mlx5_ib_create_qp)},
    {UVERBS_OBJECT_SRQ, UVERBS_ATTR_UHW_IN, sizeof(struct mlx5_ib_create_srq)},
    {UVERBS_OBJECT_WQ, UVERBS_ATTR_UHW_IN, sizeof(struct mlx5_ib_create_wq)},
    {UVERBS_OBJECT_DEVICE, UVERBS_ATTR_UHW_IN, sizeof(struct mlx5_ib_resize_cq)},
    {UVERBS_OBJECT_DEVICE, UVERBS_ATTR_CORE_IN, sizeof(struct ib_uverbs_resize_cq)},
    {MLX5_IB_OBJECT_UAR, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, sizeof(uint32_t)},
};

static size_t struct_size(const struct wv_command_row *row, uint16_t attr)
{
	for (size_t i = 0; i < WV_ARRAY_SIZE(structs); i++)
		if (is_legacy(row) && structs[i].write_cmd == row->write_cmd)
			return attr == UVERBS_ATTR_CORE_IN ? structs[i].in : structs[i].out;
	for (size_t i = 0; i < WV_ARRAY_SIZE(ioctl_structs); i++)
		if (is_core(row) && !is_legacy(row) && ioctl_structs[i].object == row->object &&
		    ioctl_structs[i].attr == attr)
			return ioctl_structs[i].size;
	for (size_t i = 0; i < WV_ARRAY_SIZE(mlx5_structs); i++)
		if (row->driver_id == RDMA_DRIVER_MLX5 && mlx5_structs[i].object == row->object &&
		    mlx5_structs[i].attr == attr)
			return mlx5_structs[i].size;
	fail_msg("the structs of %s are not in this test", row->name);
	return 0;
}

static void test_fields_lie_within_their_structs(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < rows[i].n_attrs; k++) {
			const struct wv_attr_row *attr = &rows[i].attrs[k];
			unsigned int end = 0;

			for (unsigned int f = 0; f < attr->n_fields; f++) {
				assert_true(attr->fields[f].offset >= end);
				end = attr->fields[f].offset + attr->fields[f].size;
			}
			if (end)
				assert_true(end <= struct_size(&rows[i], attr->id));
		}
}

static unsigned int count_kind(const struct wv_command_row *row, enum wv_kind kind)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < row->n_attrs; k++) {
		n += row->attrs[k].kind == kind;
		for (unsigned int f = 0; f < row->attrs[k].n_fields; f++)
			n += row->attrs[k].fields[f].kind == kind;
	}
	return n;
}

static void test_classes_have_what_they_need(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		unsigned int makes =
		    count_kind(&rows[i], WV_NEW_HANDLE) + count_kind(&rows[i], WV_NEW_FD);

		assert_true(rows[i].class_ < WV_CLASSES);
		assert_true(makes <= 1); /* a step has room for one of each */
		assert_true(count_kind(&rows[i], WV_NEW_NUMBER) <= 1);
		switch (rows[i].class_) {
		case WV_CREATE: /* GET_CONTEXT makes the context, which has no number */
			assert_true(makes == 1 || !strcmp(rows[i].name, "GET_CONTEXT"));
			break;
		case WV_DESTROY:
		case WV_MODIFY:
		case WV_QUERY:
			assert_int_equal(count_kind(&rows[i], WV_HANDLE), 1);
			break;
		case WV_CONSTANT:
		case WV_OPENING:
		case WV_MEMORY:
			assert_int_equal(makes + count_kind(&rows[i], WV_HANDLE), 0);
			break;
		default:
			break;
		}
	}
}

/* What no ioctl destroys: a context ends with its ufile, the others with their descriptors. */
static bool ends_with_a_descriptor(const struct wv_command_row *row)
{
	return row->about == UVERBS_OBJECT_DEVICE || row->about == UVERBS_OBJECT_COMP_CHANNEL ||
	       row->about == UVERBS_OBJECT_ASYNC_EVENT;
}

/* Else rollback could not end what a lease holds. */
static void test_every_created_object_can_be_destroyed(void **state)
{
	unsigned int n, checked = 0;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		const struct wv_command_row *end = wv_abi_destroyer(rows[i].driver_id, &rows[i]);

		if (rows[i].class_ != WV_CREATE)
			continue;
		if (ends_with_a_descriptor(&rows[i])) {
			assert_null(end);
			continue;
		}
		if (!end)
			fail_msg("nothing destroys what %s creates", rows[i].name);
		assert_int_equal(end->class_, WV_DESTROY);
		assert_int_equal(end->about, rows[i].about);
		checked++;
	}
	assert_true(checked >= 5); /* PD, CQ, QP, SRQ, and a UAR of mlx5's */
}

/* wv_compose_destroy() fills in a handle and answers, and nothing else. */
static void test_destroyers_can_be_composed(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		const struct wv_command_row *end = wv_abi_destroyer(rows[i].driver_id, &rows[i]);

		if (rows[i].class_ != WV_CREATE || !end)
			continue;
		assert_true(end->n_attrs <= WV_ARRAY_SIZE(((struct wv_small_command *)0)->attrs));
		assert_int_equal(count_kind(end, WV_HANDLE), 1);
		for (unsigned int k = 0; k < end->n_attrs; k++) {
			assert_true(end->attrs[k].kind == WV_HANDLE ||
				    end->attrs[k].kind == WV_OUT);
			/* The kernel refuses an answer that is too short. */
			assert_true(end->attrs[k].kind == WV_HANDLE || end->attrs[k].n_fields);
		}
	}
}

/* The legacy command and the ioctl that destroy the same thing say so. */
static void test_rows_say_what_they_are_about(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		if (rows[i].object != UVERBS_OBJECT_DEVICE)
			assert_int_equal(rows[i].about, rows[i].object);
		if (rows[i].class_ == WV_DESTROY)
			assert_non_null(wv_abi_destroyer(rows[i].driver_id, &rows[i]));
		if (rows[i].class_ == WV_MODIFY || rows[i].class_ == WV_QUERY)
			assert_int_equal(rows[i].about, UVERBS_OBJECT_QP);
	}
}

static bool can_be_ioctl(uint32_t write_cmd)
{
	struct ib_uverbs_cmd_hdr hdr = {.command = write_cmd};

	return wv_can_be_ioctl(&hdr, sizeof(hdr) + sizeof(uint64_t));
}

static void test_the_data_path_is_the_rows_of_its_class(void **state)
{
	unsigned int n, found = 0;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(wv_is_data_path(rows[i].write_cmd), rows[i].class_ == WV_DATA);
		found += rows[i].class_ == WV_DATA;
	}
	for (uint32_t cmd = 0; cmd < 0x200; cmd++) {
		found -= wv_is_data_path(cmd);
		assert_true(wv_is_data_path(cmd) || !can_be_ioctl(cmd));
	}
	assert_int_equal(found, 0);
	assert_false(wv_is_data_path(WV_NO_WRITE_CMD) || can_be_ioctl(WV_NO_WRITE_CMD));
}

/* A number of a row that creates such an object, or nothing. */
static void check_place(uint16_t about, const struct wv_place *place)
{
	unsigned int n, found = 0;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	for (unsigned int i = 0; i < n && place->attr != UINT16_MAX; i++) {
		const struct wv_attr_row *attr = wv_abi_attr(&rows[i], place->attr);

		if (!wv_abi_creates(&rows[i], about))
			continue;
		assert_non_null(attr);
		assert_int_equal(attr->kind, WV_EQUAL);
		found++;
	}
	assert_true(found || place->attr == UINT16_MAX);
}

static void test_bounds_and_costs_are_of_rows(void **state)
{
	unsigned int n_bounds, n_costs;
	const struct wv_bound_row *bounds = wv_abi_bounds(&n_bounds);
	const struct wv_cost_row *costs = wv_abi_costs(&n_costs);

	(void)state;
	for (unsigned int i = 0; i < n_bounds; i++) {
		check_place(bounds[i].about, &bounds[i].number);
		assert_non_null(bounds[i].why);
	}
	for (unsigned int i = 0; i < n_costs; i++) {
		assert_true(costs[i].bytes > 0 && costs[i].number.attr != UINT16_MAX);
		check_place(costs[i].about, &costs[i].number);
		check_place(costs[i].about, &costs[i].sges);
		check_place(costs[i].about, &costs[i].inline_bytes);
	}
}

/* A size that costs memory has a bound, else the estimate could overflow. */
static void test_what_costs_is_bounded(void **state)
{
	unsigned int n_bounds, n_costs, bounded;
	const struct wv_bound_row *bounds = wv_abi_bounds(&n_bounds);
	const struct wv_cost_row *costs = wv_abi_costs(&n_costs);

	(void)state;
	for (unsigned int i = 0; i < n_costs; i++) {
		bounded = 0;
		for (unsigned int k = 0; k < n_bounds; k++)
			bounded +=
			    bounds[k].about == costs[i].about &&
			    !memcmp(&bounds[k].number, &costs[i].number, sizeof(costs[i].number));
		assert_int_equal(bounded, 1);
	}
}

static void test_values_are_of_rows(void **state)
{
	unsigned int n;
	const struct wv_value_row *values = wv_abi_values(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		const struct wv_value_row *v = &values[i];
		const struct wv_command_row *row =
		    wv_abi_find(v->driver_id, v->object, v->method, v->write_cmd);
		const struct wv_attr_row *attr = row ? wv_abi_attr(row, v->attr) : NULL;

		if (!attr)
			fail_msg("%s is of no row", v->name);
		assert_true(attr->kind == WV_EQUAL || attr->kind == WV_HANDLE ||
			    attr->kind == WV_FD);
		assert_int_equal(row->driver_id, v->driver_id);
		if (attr->kind != WV_EQUAL)
			assert_true(v->format == WV_MAKER || v->format == WV_HIDDEN);
	}
}

/* Every ioctl method that libibverbs 44 issues, and what later ones issue in ordinary programs. */
static const struct {
	uint16_t object, method;
	enum wv_class class_;
} issued[] = {
#define M(object, method, class)                                                                   \
	{                                                                                          \
		UVERBS_OBJECT_##object, UVERBS_METHOD_##method, WV_##class                         \
	}
    /* open: cmd_device.c */
    M(DEVICE, GET_CONTEXT, CREATE),
    M(DEVICE, QUERY_CONTEXT, PASS),
    M(ASYNC_EVENT, ASYNC_EVENT_ALLOC, CREATE),
    M(DEVICE, QUERY_PORT, OPENING),
    M(DEVICE, QUERY_GID_ENTRY, PASS),
    M(DEVICE, QUERY_GID_TABLE, PASS),
    /* cmd_pd.c, cmd_cq.c, cmd_srq.c, cmd_qp.c */
    M(PD, PD_DESTROY, DESTROY),
    M(CQ, CQ_CREATE, CREATE),
    M(CQ, CQ_DESTROY, DESTROY),
    M(SRQ, SRQ_CREATE, CREATE),
    M(SRQ, SRQ_DESTROY, DESTROY),
    M(QP, QP_CREATE, CREATE),
    M(QP, QP_DESTROY, DESTROY),
    /* cmd_ah.c, cmd_mr.c, cmd_mw.c, cmd_xrcd.c, cmd_dm.c */
    M(AH, AH_DESTROY, DESTROY),
    M(MR, MR_DESTROY, DESTROY),
    M(MR, ADVISE_MR, PASS),
    M(MR, QUERY_MR, PASS),
    M(MR, REG_DMABUF_MR, PASS),
    M(MR, DM_MR_REG, PASS),
    /* since libibverbs 44 */
    {UVERBS_OBJECT_MR, WV_METHOD_REG_MR, WV_PASS},
    {UVERBS_OBJECT_DEVICE, WV_METHOD_QUERY_PORT_SPEED, WV_PASS},
    {WV_OBJECT_DMAH, WV_METHOD_DMAH_ALLOC, WV_PASS},
    {WV_OBJECT_DMAH, WV_METHOD_DMAH_FREE, WV_DESTROY},
    M(MW, MW_DESTROY, DESTROY),
    M(XRCD, XRCD_DESTROY, DESTROY),
    M(DM, DM_ALLOC, PASS),
    M(DM, DM_FREE, DESTROY),
    /* cmd_wq.c, cmd_rwq_ind.c, cmd_flow.c, cmd_counters.c */
    M(WQ, WQ_CREATE, PASS),
    M(WQ, WQ_DESTROY, DESTROY),
    M(RWQ_IND_TBL, RWQ_IND_TBL_DESTROY, DESTROY),
    M(FLOW, FLOW_DESTROY, DESTROY),
    M(COUNTERS, COUNTERS_CREATE, PASS),
    M(COUNTERS, COUNTERS_DESTROY, DESTROY),
    M(COUNTERS, COUNTERS_READ, PASS),
#undef M
};

static void test_every_ioctl_of_libibverbs_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(issued); i++) {
		const struct wv_command_row *row =
		    wv_abi_find(WV_ANY_DRIVER, issued[i].object, issued[i].method, WV_NO_WRITE_CMD);

		if (!row)
			fail_msg("object %u method %u", issued[i].object, issued[i].method);
		assert_int_equal(row->class_, issued[i].class_);
	}
}

/* Every write command that libibverbs 44 issues on a kernel that has the ioctl methods above. */
static const struct {
	uint32_t write_cmd;
	enum wv_class class_;
} written[] = {
    /* device.c, cmd_device.c, verbs.c */
    {CMD(QUERY_DEVICE), WV_CONSTANT},
    {EX(QUERY_DEVICE), WV_CONSTANT},
    {CMD(CREATE_COMP_CHANNEL), WV_CREATE},
    /* cmd.c */
    {CMD(ALLOC_PD), WV_CREATE},
    {CMD(OPEN_XRCD), WV_PASS},
    {CMD(REG_MR), WV_REGISTER},
    {CMD(REREG_MR), WV_PASS},
    {CMD(ALLOC_MW), WV_PASS},
    {CMD(POLL_CQ), WV_DATA},
    {CMD(REQ_NOTIFY_CQ), WV_DATA},
    {CMD(RESIZE_CQ), WV_PASS},
    {CMD(MODIFY_SRQ), WV_PASS},
    {CMD(QUERY_SRQ), WV_PASS},
    {CMD(OPEN_QP), WV_PASS},
    {CMD(QUERY_QP), WV_QUERY},
    {CMD(MODIFY_QP), WV_MODIFY},
    {EX(MODIFY_QP), WV_MODIFY},
    {CMD(POST_SEND), WV_DATA},
    {CMD(POST_RECV), WV_DATA},
    {CMD(POST_SRQ_RECV), WV_DATA},
    {CMD(CREATE_AH), WV_PASS},
    {CMD(ATTACH_MCAST), WV_PASS},
    {CMD(DETACH_MCAST), WV_PASS},
    {EX(CREATE_FLOW), WV_PRIVILEGED},
    {EX(MODIFY_WQ), WV_PASS},
    {EX(CREATE_RWQ_IND_TBL), WV_PASS},
    {EX(MODIFY_CQ), WV_PASS},
    /* The older form of an ioctl method, for kernels without it; known all the same. */
    {CMD(QUERY_PORT), WV_PASS},
    {CMD(DEALLOC_PD), WV_DESTROY},
    {CMD(DESTROY_AH), WV_DESTROY},
    {CMD(DEREG_MR), WV_DESTROY},
    {CMD(DEALLOC_MW), WV_DESTROY},
    {CMD(DESTROY_CQ), WV_DESTROY},
    {CMD(DESTROY_QP), WV_DESTROY},
    {CMD(DESTROY_SRQ), WV_DESTROY},
    {CMD(CLOSE_XRCD), WV_DESTROY},
};

static void test_every_write_command_of_libibverbs_is_known(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(written); i++) {
		const struct wv_command_row *row =
		    wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE,
				written[i].write_cmd);

		if (!row)
			fail_msg("write command %#x", written[i].write_cmd);
		assert_int_equal(row->class_, written[i].class_);
	}
}

#define OWN_METHOD(object, method, class)                                                          \
	{                                                                                          \
		object, MLX5_IB_METHOD_##method, WV_NO_WRITE_CMD, WV_##class                       \
	}
#define OWN(object, method, class) OWN_METHOD(MLX5_IB_OBJECT_##object, method, class)
#define QUERY_HCA_CAP		   0x100

/* What libmlx5 44 issues beside (providers/mlx5/verbs.c), and later ones in ordinary programs. */
static const struct {
	uint16_t object, method;
	uint32_t write_cmd;
	enum wv_class class_;
} issued_by_mlx5[] = {
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, WV_NO_WRITE_CMD, WV_CREATE},
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, WV_NO_WRITE_CMD, WV_CREATE},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, WV_NO_WRITE_CMD, WV_CREATE},
    {MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER, QUERY_HCA_CAP, WV_CONSTANT},
    OWN(UAR, UAR_OBJ_ALLOC, CREATE),
    OWN(UAR, UAR_OBJ_DESTROY, DESTROY),
    {UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, WV_NO_WRITE_CMD, WV_PASS},
    {UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, CMD(RESIZE_CQ), WV_PASS},
    OWN(DEVX, DEVX_OTHER, PASS),
    OWN(DEVX, DEVX_QUERY_UAR, PASS),
    OWN(DEVX, DEVX_QUERY_EQN, PASS),
    OWN(DEVX_OBJ, DEVX_OBJ_CREATE, PRIVILEGED),
    OWN(FLOW_MATCHER, FLOW_MATCHER_CREATE, PRIVILEGED),
    OWN(STEERING_ANCHOR, STEERING_ANCHOR_CREATE, PRIVILEGED),
    OWN_METHOD(UVERBS_OBJECT_FLOW, CREATE_FLOW, PRIVILEGED),
    OWN_METHOD(UVERBS_OBJECT_DEVICE, QUERY_PORT, PASS),
    {UVERBS_OBJECT_DEVICE, WV_MLX5_METHOD_GET_DATA_DIRECT_SYSFS_PATH, WV_NO_WRITE_CMD, WV_PASS},
    OWN_METHOD(UVERBS_OBJECT_PD, PD_QUERY, PASS),
};

static void test_every_row_of_mlx5_is_issued(void **state)
{
	unsigned int n, own = 0;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(issued_by_mlx5); i++) {
		const struct wv_command_row *row =
		    wv_abi_find(RDMA_DRIVER_MLX5, issued_by_mlx5[i].object,
				issued_by_mlx5[i].method, issued_by_mlx5[i].write_cmd);

		if (!row)
			fail_msg("object %#x method %#x", issued_by_mlx5[i].object,
				 issued_by_mlx5[i].method);
		assert_int_equal(row->driver_id, RDMA_DRIVER_MLX5);
		assert_int_equal(row->class_, issued_by_mlx5[i].class_);
	}
	for (unsigned int i = 0; i < n; i++)
		own += rows[i].driver_id == RDMA_DRIVER_MLX5;
	assert_int_equal(own, WV_ARRAY_SIZE(issued_by_mlx5));
}

#define TOO_OLD "only where the kernel lacks the ioctl method: such a kernel gets no leases"
#define NOT_RXE "no driver with leases has flow actions"
#define BY_HAND "a program that speaks with the firmware itself is followed no further"

/* What libibverbs 44 or libmlx5 44 can issue and the table leaves unknown on purpose. */
static const struct {
	uint16_t object, method;
	uint32_t write_cmd;
	const char *why;
} left_unknown[] = {
#define D(object, method)                                                                          \
	{                                                                                          \
		MLX5_IB_OBJECT_##object, MLX5_IB_METHOD_##method, WV_NO_WRITE_CMD, BY_HAND         \
	}
    D(DEVX, DEVX_SUBSCRIBE_EVENT),
    D(DEVX_OBJ, DEVX_OBJ_DESTROY),
    D(DEVX_OBJ, DEVX_OBJ_MODIFY),
    D(DEVX_OBJ, DEVX_OBJ_QUERY),
    D(DEVX_OBJ, DEVX_OBJ_ASYNC_QUERY),
    D(DEVX_UMEM, DEVX_UMEM_REG),
    D(DEVX_UMEM, DEVX_UMEM_DEREG),
    D(DEVX_ASYNC_CMD_FD, DEVX_ASYNC_CMD_FD_ALLOC),
    D(DEVX_ASYNC_EVENT_FD, DEVX_ASYNC_EVENT_FD_ALLOC),
    D(FLOW_MATCHER, FLOW_MATCHER_DESTROY),
    D(STEERING_ANCHOR, STEERING_ANCHOR_DESTROY),
    D(VAR, VAR_OBJ_ALLOC),
    D(VAR, VAR_OBJ_DESTROY),
    D(PP, PP_OBJ_ALLOC),
    D(PP, PP_OBJ_DESTROY),
#undef D
    {UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_MAP_OP_ADDR, WV_NO_WRITE_CMD, BY_HAND},
    {UVERBS_OBJECT_DM, MLX5_IB_METHOD_DM_QUERY, WV_NO_WRITE_CMD, BY_HAND},
#define W(cmd, why)                                                                                \
	{                                                                                          \
		UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, cmd, why                         \
	}
    W(CMD(GET_CONTEXT), TOO_OLD),
    W(CMD(CREATE_CQ), TOO_OLD),
    W(CMD(CREATE_QP), TOO_OLD),
    W(CMD(CREATE_SRQ), TOO_OLD),
    W(CMD(CREATE_XSRQ), TOO_OLD),
    W(EX(CREATE_CQ), TOO_OLD),
    W(EX(CREATE_QP), TOO_OLD),
    W(EX(CREATE_WQ), TOO_OLD),
    W(EX(DESTROY_WQ), TOO_OLD),
    W(EX(DESTROY_FLOW), TOO_OLD),
    W(EX(DESTROY_RWQ_IND_TBL), TOO_OLD),
#undef W
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_CREATE, WV_NO_WRITE_CMD, NOT_RXE},
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY, WV_NO_WRITE_CMD, NOT_RXE},
    {UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY, WV_NO_WRITE_CMD, NOT_RXE},
};

static void test_what_is_left_unknown_is_unknown(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(left_unknown); i++) {
		assert_non_null(left_unknown[i].why);
		assert_null(wv_abi_find(RDMA_DRIVER_MLX5, left_unknown[i].object,
					left_unknown[i].method, left_unknown[i].write_cmd));
		assert_null(wv_abi_find(RDMA_DRIVER_RXE, left_unknown[i].object,
					left_unknown[i].method, left_unknown[i].write_cmd));
	}
}

static bool is_listed(const struct wv_command_row *row)
{
	for (size_t i = 0; i < WV_ARRAY_SIZE(issued); i++)
		if (!is_legacy(row) && issued[i].object == row->object &&
		    issued[i].method == row->method)
			return true;
	for (size_t i = 0; i < WV_ARRAY_SIZE(written); i++)
		if (is_legacy(row) && written[i].write_cmd == row->write_cmd)
			return true;
	return false;
}

/* A row for something that nothing issues would never be tested by a program. */
static void test_no_row_without_a_reason(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		if (is_core(&rows[i]) && rows[i].class_ != WV_MEMORY && !is_listed(&rows[i]))
			/* rdma's own tools issue this one */
			assert_string_equal(rows[i].name, "INFO_HANDLES");
}

static void test_private_answers_are_answers(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < rows[i].n_attrs; k++)
			if (is_core(&rows[i]) && rows[i].attrs[k].id == UVERBS_ATTR_UHW_OUT)
				assert_int_equal(rows[i].attrs[k].kind, WV_OUT);
}

/* A driver's row says more of the private payload, or more carefully what may be done ahead. */
static void test_a_driver_s_create_rows_say_all_that_the_core_s_do(void **state)
{
	unsigned int n;
	const struct wv_command_row *rows = wv_abi_rows(&n);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		const struct wv_command_row *core =
		    wv_abi_find(WV_ANY_DRIVER, rows[i].object, rows[i].method, rows[i].write_cmd);

		if (is_core(&rows[i]) || !core)
			continue;
		assert_true(rows[i].class_ == core->class_ || rows[i].class_ == WV_PASS);
		assert_int_equal(rows[i].about, core->about);
		assert_string_equal(rows[i].name, core->name);
		assert_int_equal(rows[i].n_attrs, core->n_attrs);
		for (unsigned int k = 0; k < core->n_attrs; k++)
			assert_int_equal(wv_abi_attr(&rows[i], core->attrs[k].id)->kind,
					 core->attrs[k].kind);
	}
}

static void test_unknown_things_are_not_found(void **state)
{
	const struct wv_command_row *row =
	    wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY, WV_NO_WRITE_CMD);

	(void)state;
	assert_null(wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_PD, 99, WV_NO_WRITE_CMD));
	assert_null(
	    wv_abi_find(WV_ANY_DRIVER, 0x1000, 0, WV_NO_WRITE_CMD)); /* a driver's own object */
	assert_null(
	    wv_abi_find(WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 4711));
	assert_null(wv_abi_attr(row, 99));
	assert_null(wv_abi_driver(RDMA_DRIVER_UNKNOWN));
	assert_null(wv_abi_driver(RDMA_DRIVER_HNS));
	assert_string_equal(wv_abi_driver(RDMA_DRIVER_RXE)->provider, "rxe");
	assert_false(wv_abi_driver(RDMA_DRIVER_RXE)->user_queues);
	assert_string_equal(wv_abi_driver(RDMA_DRIVER_SIW)->provider, "siw");
	assert_false(wv_abi_driver(RDMA_DRIVER_SIW)->user_queues);
	assert_false(wv_abi_prepares_qps(RDMA_DRIVER_SIW));
	assert_true(wv_abi_prepares_qps(RDMA_DRIVER_RXE) && wv_abi_prepares_qps(RDMA_DRIVER_MLX5) &&
		    wv_abi_prepares_qps(WV_ANY_DRIVER));
	assert_string_equal(wv_abi_driver(RDMA_DRIVER_MLX5)->provider, "mlx5");
	assert_true(wv_abi_driver(RDMA_DRIVER_MLX5)->user_queues);
}

static void test_write_command_of_a_command(void **state)
{
	struct command cmd;

	(void)state;
	command_legacy(&cmd, CMD(ALLOC_PD), NULL, 0, NULL, 0);
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), CMD(ALLOC_PD));
	cmd.hdr.num_attrs = 0;
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
	command_init(&cmd, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	command_object(&cmd, UVERBS_ATTR_WRITE_CMD, 3); /* the same number is the PD here */
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
}

/* Cut to 32 bits it would be another command. */
static void test_a_write_command_beyond_all(void **state)
{
	static const uint64_t numbers[] = {1ull << 32 | CMD(ALLOC_PD), UINT64_MAX, 0xffffffff};
	struct command cmd;

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(numbers); i++) {
		command_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
		command_in(&cmd, UVERBS_ATTR_WRITE_CMD, &numbers[i], 8);
		assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
	}
	command_init(&cmd, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	command_in(&cmd, UVERBS_ATTR_WRITE_CMD, &numbers[0], 4);
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
}

static void test_firmware_command_of_a_command(void **state)
{
	static const uint8_t mailbox[16] = {0x01, 0x00, 0, 0, 0, 0, 0x00, 0x01};
	struct command cmd;

	(void)state;
	command_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	command_in(&cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, mailbox, sizeof(mailbox));
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), QUERY_HCA_CAP);
	assert_string_equal(command_row(&cmd)->name, "query_hca_cap");
	cmd.attrs[0].attr_id = MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT;
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
	cmd.attrs[0].attr_id = MLX5_IB_ATTR_DEVX_OTHER_CMD_IN;
	cmd.hdr.driver_id = RDMA_DRIVER_RXE; /* the same numbers are another's there */
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
	command_init(&cmd, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER);
	cmd.hdr.driver_id = RDMA_DRIVER_MLX5;
	command_in(&cmd, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, mailbox, 1); /* inline, and too short */
	assert_int_equal(wv_abi_write_cmd(&cmd.hdr), WV_NO_WRITE_CMD);
}

/* The state that a queue pair of @type goes to, -1: it is not prepared. */
static int ahead_of(uint32_t driver_id, uint32_t type, const uint32_t *flags)
{
	struct mlx5_ib_create_qp uhw = {.flags = flags ? *flags : 0};
	const struct wv_ahead_row *row =
	    wv_qp_ahead(driver_id, type, flags ? &uhw : NULL, flags ? sizeof(uhw) : 0);

	return row ? row->state : -1;
}

static void test_how_far_queue_pairs_go(void **state)
{
	static const uint32_t drivers[] = {RDMA_DRIVER_RXE, RDMA_DRIVER_SIW, RDMA_DRIVER_MLX5};

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(drivers); i++) {
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_RC, NULL), IBV_QPS_INIT);
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_UC, NULL), IBV_QPS_INIT);
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_UD, NULL), IBV_QPS_RTS);
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_RAW_PACKET, NULL), -1);
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_XRC_INI, NULL), -1);
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_XRC_TGT, NULL), -1);
		assert_int_equal(ahead_of(drivers[i], IB_UVERBS_QPT_DRIVER, NULL), -1);
	}
}

/* What prefork asks, of the verbs' types. */
static void test_how_far_a_verb_goes(void **state)
{
	(void)state;
	assert_false(wv_qp_is_ahead(IBV_QPT_RC, IBV_QPS_RESET));
	assert_true(wv_qp_is_ahead(IBV_QPT_RC, IBV_QPS_INIT));
	assert_false(wv_qp_is_ahead(IBV_QPT_RC, IBV_QPS_RTR));
	assert_true(wv_qp_is_ahead(IBV_QPT_UC, IBV_QPS_INIT));
	assert_false(wv_qp_is_ahead(IBV_QPT_UC, IBV_QPS_RTR));
	assert_true(wv_qp_is_ahead(IBV_QPT_UD, IBV_QPS_RTS));
	assert_false(wv_qp_is_ahead(IBV_QPT_UD, IBV_QPS_ERR));
	assert_false(wv_qp_is_ahead(IBV_QPT_RAW_PACKET, IBV_QPS_INIT));
	assert_false(wv_qp_is_ahead(IBV_QPT_DRIVER, IBV_QPS_INIT));
}

static void test_how_far_dc_goes(void **state)
{
	const uint32_t both = MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_TYPE_DCT;
	const uint32_t dci = MLX5_QP_FLAG_TYPE_DCI, dct = MLX5_QP_FLAG_TYPE_DCT, none = 0;
	const uint32_t more = MLX5_QP_FLAG_TYPE_DCI | MLX5_QP_FLAG_UAR_PAGE_INDEX;
	struct mlx5_ib_create_qp uhw = {.flags = dci};
	size_t cut = offsetof(struct mlx5_ib_create_qp, flags) + 3;

	(void)state;
	assert_int_equal(ahead_of(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &dci), IBV_QPS_RTS);
	assert_int_equal(ahead_of(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &more), IBV_QPS_RTS);
	assert_int_equal(ahead_of(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &dct), IBV_QPS_RTR);
	assert_int_equal(ahead_of(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &none), -1);
	assert_int_equal(ahead_of(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &both), -1);
	assert_int_equal(ahead_of(RDMA_DRIVER_RXE, IB_UVERBS_QPT_DRIVER, &dci), -1);
	assert_null(wv_qp_ahead(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &uhw, cut));
	assert_true(
	    wv_qp_ahead(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &uhw, cut + 1)->can_be_reset);
	uhw.flags = dct;
	assert_false(
	    wv_qp_ahead(RDMA_DRIVER_MLX5, IB_UVERBS_QPT_DRIVER, &uhw, sizeof(uhw))->can_be_reset);
}

static void test_every_kind_and_class_has_a_name(void **state)
{
	(void)state;
	for (int i = 0; i < WV_KINDS; i++)
		assert_string_not_equal(wv_kind_name(i), "?");
	for (int i = 0; i < WV_CLASSES; i++)
		assert_string_not_equal(wv_class_name(i), "?");
	assert_string_equal(wv_kind_name(WV_KINDS), "?");
	assert_string_equal(wv_class_name(WV_CLASSES), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rows_are_unique_and_found),
	    cmocka_unit_test(test_rows_are_found_again),
	    cmocka_unit_test(test_a_driver_s_row_is_found_before_the_core_s),
	    cmocka_unit_test(test_a_driver_s_command_is_its_alone),
	    cmocka_unit_test(test_rows_are_sorted),
	    cmocka_unit_test(test_rows_of_carriers_say_what_is_carried),
	    cmocka_unit_test(test_memory_is_no_command),
	    cmocka_unit_test(test_attributes_are_unique),
	    cmocka_unit_test(test_fields_are_of_kinds_that_are_handled),
	    cmocka_unit_test(test_fields_lie_within_their_structs),
	    cmocka_unit_test(test_classes_have_what_they_need),
	    cmocka_unit_test(test_every_created_object_can_be_destroyed),
	    cmocka_unit_test(test_destroyers_can_be_composed),
	    cmocka_unit_test(test_rows_say_what_they_are_about),
	    cmocka_unit_test(test_the_data_path_is_the_rows_of_its_class),
	    cmocka_unit_test(test_bounds_and_costs_are_of_rows),
	    cmocka_unit_test(test_what_costs_is_bounded),
	    cmocka_unit_test(test_values_are_of_rows),
	    cmocka_unit_test(test_drivers_say_whether_they_have_rows),
	    cmocka_unit_test(test_what_has_no_row_of_its_own),
	    cmocka_unit_test(test_every_ioctl_of_libibverbs_is_known),
	    cmocka_unit_test(test_every_write_command_of_libibverbs_is_known),
	    cmocka_unit_test(test_every_row_of_mlx5_is_issued),
	    cmocka_unit_test(test_what_is_left_unknown_is_unknown),
	    cmocka_unit_test(test_no_row_without_a_reason),
	    cmocka_unit_test(test_private_answers_are_answers),
	    cmocka_unit_test(test_a_driver_s_create_rows_say_all_that_the_core_s_do),
	    cmocka_unit_test(test_unknown_things_are_not_found),
	    cmocka_unit_test(test_write_command_of_a_command),
	    cmocka_unit_test(test_a_write_command_beyond_all),
	    cmocka_unit_test(test_firmware_command_of_a_command),
	    cmocka_unit_test(test_how_far_queue_pairs_go),
	    cmocka_unit_test(test_how_far_a_verb_goes),
	    cmocka_unit_test(test_how_far_dc_goes),
	    cmocka_unit_test(test_every_kind_and_class_has_a_name),
	};

	return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
