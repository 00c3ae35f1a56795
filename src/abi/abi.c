/* SPDX-License-Identifier: BSD-2-Clause */
#include "abi/abi.h"

#include "abi/rows.h"
#include "base/base.h"

#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <stddef.h>
#include <string.h>

/* Opcode of the firmware command, in the first two bytes of its mailbox, big-endian. */
#define MLX5_QUERY_HCA_CAP 0x100

/* A driver's rows come before the core's, because they say more about the same command. */
static const struct wv_command_row rows[] = {
#include "abi/mlx5_rows.h"

#include "abi/siw_rows.h"

#include "abi/core_rows.h"
};

/*
 * rxe's requests carry nothing private, and its answers only mmap offsets of the ufile
 * (rdma_user_rxe.h), so the core's rows describe them in full.
 */
static const struct wv_driver_row drivers[] = {
    {RDMA_DRIVER_RXE, "rxe"},
    {RDMA_DRIVER_SIW, "siw", true},
    {RDMA_DRIVER_MLX5, "mlx5", true, true},
};

/* Methods that carry a command of another kind, and the place of its number. */
static const struct carrier {
	uint32_t driver_id;
	uint16_t object, method, attr;
	bool big_endian; /* two bytes of a mailbox, rather than a number by itself */
} carriers[] = {
    {WV_ANY_DRIVER, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, UVERBS_ATTR_WRITE_CMD},
    {RDMA_DRIVER_MLX5, MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_OTHER,
     MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, true},
};

_Static_assert(sizeof(struct ib_uverbs_ioctl_hdr) == 24, "ioctl header");
_Static_assert(sizeof(struct ib_uverbs_attr) == 16, "ioctl attribute");
_Static_assert(offsetof(struct ib_uverbs_query_qp, qp_handle) == 8, "query_qp");
_Static_assert(sizeof(((struct ib_uverbs_alloc_pd_resp *)0)->pd_handle) == 4, "handles are u32");

static bool is_of(uint32_t row_driver_id, uint32_t driver_id)
{
	return row_driver_id == WV_ANY_DRIVER || row_driver_id == driver_id;
}

const struct wv_command_row *wv_abi_rows(unsigned int *n)
{
	*n = WV_ARRAY_SIZE(rows);
	return rows;
}

_Static_assert(WV_ARRAY_SIZE(rows) <= UINT8_MAX, "a row's number fits a byte");

uint8_t wv_abi_index(const struct wv_command_row *row)
{
	return (uint8_t)(row - rows);
}

const struct wv_command_row *wv_abi_at(uint8_t index)
{
	return index < WV_ARRAY_SIZE(rows) ? &rows[index] : NULL;
}

static bool is_command(const struct wv_command_row *row, uint32_t driver_id, uint16_t object,
		       uint16_t method, uint32_t write_cmd)
{
	return row->write_cmd == write_cmd && row->object == object && row->method == method &&
	       is_of(row->driver_id, driver_id);
}

static const struct wv_command_row *search(uint32_t driver_id, uint16_t object, uint16_t method,
					   uint32_t write_cmd)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(rows); i++)
		if (is_command(&rows[i], driver_id, object, method, write_cmd))
			return &rows[i];
	return write_cmd == WV_NO_WRITE_CMD ? NULL
					    : search(driver_id, object, method, WV_NO_WRITE_CMD);
}

/*
 * The number + 1 of the row found last, by driver (the last place: all others, which share the
 * core's rows) and by a hash of the command: searching takes longer than the rest of an adopted
 * command. 0: none.
 */
static uint8_t found[WV_ARRAY_SIZE(drivers) + 1][64];

static uint8_t *place_of(uint32_t driver_id, uint16_t object, uint16_t method, uint32_t write_cmd)
{
	const struct wv_driver_row *row = wv_abi_driver(driver_id);
	size_t driver = row ? (size_t)(row - drivers) : WV_ARRAY_SIZE(drivers);

	return &found[driver][(object * 8u + method + write_cmd) % WV_ARRAY_SIZE(found[0])];
}

const struct wv_command_row *wv_abi_find(uint32_t driver_id, uint16_t object, uint16_t method,
					 uint32_t write_cmd)
{
	uint8_t *place = place_of(driver_id, object, method, write_cmd);
	uint8_t last = __atomic_load_n(place, __ATOMIC_RELAXED);
	const struct wv_command_row *row = last ? &rows[last - 1] : NULL;

	if (row && is_command(row, driver_id, object, method, write_cmd))
		return row;
	row = search(driver_id, object, method, write_cmd);
	if (row)
		__atomic_store_n(place, (uint8_t)(wv_abi_index(row) + 1), __ATOMIC_RELAXED);
	return row;
}

bool wv_abi_describes(const struct wv_command_row *row, uint32_t driver_id, uint16_t object,
		      uint16_t method, uint32_t write_cmd)
{
	const struct wv_driver_row *driver = wv_abi_driver(driver_id);

	if (!is_command(row, driver_id, object, method, write_cmd))
		return false;
	if (!driver || !driver->own_rows)
		return true;
	for (const struct wv_command_row *r = rows; r < row && r->driver_id != WV_ANY_DRIVER; r++)
		if (is_command(r, driver_id, object, method, write_cmd))
			return false;
	return true;
}

const struct wv_command_row *wv_abi_destroyer(uint32_t driver_id,
					      const struct wv_command_row *create)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(rows); i++)
		if (rows[i].class_ == WV_DESTROY && rows[i].about == create->about &&
		    rows[i].write_cmd == WV_NO_WRITE_CMD && is_of(rows[i].driver_id, driver_id))
			return &rows[i];
	return NULL;
}

bool wv_abi_prepares_qps(uint32_t driver_id)
{
	const struct wv_command_row *create =
	    wv_abi_find(driver_id, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, WV_NO_WRITE_CMD);

	return create->class_ == WV_CREATE;
}

const struct wv_attr_row *wv_abi_attr(const struct wv_command_row *row, uint16_t id)
{
	for (unsigned int i = 0; i < row->n_attrs; i++)
		if (row->attrs[i].id == id)
			return &row->attrs[i];
	return NULL;
}

const struct wv_driver_row *wv_abi_driver(uint32_t driver_id)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(drivers); i++)
		if (drivers[i].driver_id == driver_id)
			return &drivers[i];
	return NULL;
}

static const struct carrier *find_carrier(uint32_t driver_id, uint16_t object, uint16_t method)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(carriers); i++)
		if (carriers[i].object == object && carriers[i].method == method &&
		    is_of(carriers[i].driver_id, driver_id))
			return &carriers[i];
	return NULL;
}

static uint32_t read_carried(const struct carrier *c, const uint8_t *bytes, size_t len)
{
	uint64_t number;

	if (c->big_endian)
		return len < 2 ? WV_NO_WRITE_CMD : (uint32_t)bytes[0] << 8 | bytes[1];
	if (len != sizeof(number))
		return WV_NO_WRITE_CMD;
	memcpy(&number, bytes, sizeof(number));
	return number < WV_NO_WRITE_CMD ? (uint32_t)number : WV_NO_WRITE_CMD;
}

uint32_t wv_abi_carried(uint32_t driver_id, uint16_t object, uint16_t method, uint16_t attr,
			const void *bytes, size_t len)
{
	const struct carrier *c = find_carrier(driver_id, object, method);

	return c && c->attr == attr ? read_carried(c, bytes, len) : WV_NO_WRITE_CMD;
}

uint32_t wv_abi_write_cmd(const struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct carrier *c = find_carrier(cmd->driver_id, cmd->object_id, cmd->method_id);

	for (unsigned int i = 0; c && i < cmd->num_attrs; i++)
		if (cmd->attrs[i].attr_id == c->attr)
			return read_carried(c, wv_attr_input(&cmd->attrs[i]), cmd->attrs[i].len);
	return WV_NO_WRITE_CMD;
}

uint64_t wv_field_get(const struct wv_field *field, const void *payload)
{
	const uint8_t *at = (const uint8_t *)payload + field->offset;
	uint16_t small;
	uint32_t number;
	uint64_t large;

	switch (field->size) {
	case sizeof(small):
		memcpy(&small, at, sizeof(small));
		return small;
	case sizeof(number):
		memcpy(&number, at, sizeof(number));
		return number;
	default:
		memcpy(&large, at, sizeof(large));
		return large;
	}
}

void wv_field_set(const struct wv_field *field, void *payload, uint64_t value)
{
	uint8_t *at = (uint8_t *)payload + field->offset;
	uint16_t small = (uint16_t)value;
	uint32_t number = (uint32_t)value;

	switch (field->size) {
	case sizeof(small):
		memcpy(at, &small, sizeof(small));
		break;
	case sizeof(number):
		memcpy(at, &number, sizeof(number));
		break;
	default:
		memcpy(at, &value, sizeof(value));
	}
}

int wv_attr_fields(const struct wv_attr_row *known, const void *payload, size_t len,
		   wv_visit_field visit, void *data)
{
	int stop = 0;

	for (unsigned int i = 0; i < known->n_fields && !stop; i++)
		if (wv_field_fits(&known->fields[i], len))
			stop = visit(data, &known->fields[i], (uint8_t *)(uintptr_t)payload);
	return stop;
}
