/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What warmverbs knows of the uverbs ABI, as data.
 *
 * One row describes one command: an ioctl method, or a legacy write() command carried by
 * UVERBS_METHOD_INVOKE_WRITE. Recording, normalising, validating, replaying and adopting are loops
 * over these rows; no other folder knows a layout or a command number. Layouts come from
 * <rdma/...>.
 *
 * docs/abi-table.md explains the columns to a reader.
 */
#pragma once

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an attribute, or a field inside one, is. */
enum wv_kind {
	WV_EQUAL,      /* input: must be equal in two commands that are the same */
	WV_OUT,	       /* output: the recorded answer is copied here */
	WV_HANDLE,     /* names an object: replaced by the lease's handle */
	WV_NEW_HANDLE, /* receives the handle of the new object */
	WV_FD,	       /* names a descriptor: compared by which one it is, not by number */
	WV_NEW_FD,     /* receives the new descriptor */
	WV_TOKEN,      /* user handle: any value; events carry it */
	WV_POINTER,    /* user address: private to the process, never compared */
	WV_NUMBER,     /* hardware number from an earlier answer: replaced by the lease's */
	WV_NEW_NUMBER, /* receives such a number */
	WV_BUFFER,     /* user address of a queue: the start of memory that the program allocated */
	WV_DOORBELL,   /* user address of a doorbell record, in memory that objects share */
	WV_VOLATILE,   /* differs from run to run (PSNs, librdmacm's flow labels) */
	WV_VECTOR,     /* completion vector: any of the device, where the program cannot tell */
	WV_IOVA,       /* what the adapter calls registered memory: its address in the program */
	WV_KINDS
};

/* What may be done with a command ahead of time. */
enum wv_class {
	WV_CREATE,     /* creates an object for this program alone: done ahead */
	WV_CONSTANT,   /* its answer does not change while the device exists: done ahead */
	WV_OPENING,    /* constant only in what ibv_open_device() reads: answered only there */
	WV_MEMORY,     /* not a command: memory that the program allocated for queues */
	WV_MODIFY,     /* moves a QP: done ahead as far as wv_qp_ahead() says */
	WV_QUERY,      /* reads a QP: done ahead only while the QP is as created */
	WV_DESTROY,    /* destroys an object: goes to the kernel, and voids steps that name it */
	WV_PASS,       /* reads changing state, or memory of the program: goes to the kernel */
	WV_PRIVILEGED, /* may need capabilities of the opener that a lease does not give */
	WV_DATA,       /* data path: not looked at, not recorded */
	WV_REGISTER,   /* registers memory: done ahead if wv_alloc_mr() asks for it */
	WV_CLASSES
};

struct wv_field {
	uint16_t offset;
	uint8_t size;
	uint8_t kind; /* enum wv_kind */
};

/*
 * The rows contain no pointers: the table is then identical in every process, and needs no
 * relocation at program start.
 */
struct wv_attr_row {
	uint16_t id;
	uint8_t kind; /* enum wv_kind */
	uint8_t n_fields;
	struct wv_field fields[4]; /* kinds inside the payload; the rest of it is WV_EQUAL */
};

struct wv_command_row {
	uint32_t driver_id; /* the driver, or WV_ANY_DRIVER */
	uint16_t object, method;
	uint32_t write_cmd; /* carried by the method: see wv_abi_write_cmd() */
	uint16_t about; /* type of the object that is created, destroyed, ...: UVERBS_OBJECT_* */
	uint8_t class_; /* enum wv_class */
	uint8_t n_attrs;
	char name[20];
	struct wv_attr_row attrs[18];
};

/* A kernel driver whose private payloads (UHW_IN, UHW_OUT) are known, so that it may be leased. */
struct wv_driver_row {
	uint32_t driver_id; /* enum rdma_driver_id */
	const char *provider;
	bool own_rows;	  /* it has rows in the table */
	bool user_queues; /* queues are in the program's memory, not the kernel's */
};

#define WV_NO_WRITE_CMD 0xffffffffu
#define WV_ANY_DRIVER	RDMA_DRIVER_UNKNOWN

/*
 * From the kernel's ABI, for headers that are older than rdma-core 65 (rdma/ib_user_ioctl_cmds.h:
 * the same names with UVERBS in place of WV). tests/unit/test_abi_headers.py compares them with
 * headers that have them.
 */
#define WV_OBJECT_DMAH 17

#define WV_METHOD_REG_MR	   5
#define WV_METHOD_QUERY_PORT_SPEED 7
#define WV_METHOD_DMAH_ALLOC	   0
#define WV_METHOD_DMAH_FREE	   1

#define WV_ATTR_REG_MR_HANDLE		  0
#define WV_ATTR_QUERY_PORT_SPEED_PORT_NUM 0
#define WV_ATTR_QUERY_PORT_SPEED_RESP	  1
#define WV_ATTR_ALLOC_DMAH_HANDLE	  0
#define WV_ATTR_FREE_DMA_HANDLE		  0

/* The same of mlx5, from rdma/mlx5_user_ioctl_cmds.h. */
#define WV_MLX5_METHOD_GET_DATA_DIRECT_SYSFS_PATH (MLX5_IB_METHOD_QUERY_PORT + 1)
#define WV_MLX5_ATTR_GET_DATA_DIRECT_SYSFS_PATH	  MLX5_IB_ATTR_QUERY_PORT_PORT_NUM

/* Not a kernel command: a program's allocation of memory for queues, as a step of a command log. */
#define WV_OBJECT_MEMORY 0xffff

/* Attributes of such a step. */
enum wv_memory_attr {
	WV_ATTR_MEMORY_SIZE,	/* uint64_t, bytes */
	WV_ATTR_MEMORY_PATTERN, /* struct wv_series[], see cmdlog/pattern.h */
};

/*
 * The row of a driver's command, or NULL if warmverbs does not know the command. @write_cmd comes
 * from wv_abi_write_cmd(); a row with WV_NO_WRITE_CMD covers every command of its method that has
 * no row of its own.
 */
const struct wv_command_row *wv_abi_find(uint32_t driver_id, uint16_t object, uint16_t method,
					 uint32_t write_cmd);

/*
 * Whether @row, which is for exactly this command, is the one that wv_abi_find() would return; this
 * is quicker.
 */
bool wv_abi_describes(const struct wv_command_row *row, uint32_t driver_id, uint16_t object,
		      uint16_t method, uint32_t write_cmd);

/*
 * The row of the ioctl that destroys what @create (WV_CREATE) creates. NULL if there is none: a
 * context ends with its ufile, a completion channel or async event file with its descriptor.
 */
const struct wv_command_row *wv_abi_destroyer(uint32_t driver_id,
					      const struct wv_command_row *create);

/* A row's number in this build's table, and back (NULL: no such row). */
uint8_t wv_abi_index(const struct wv_command_row *row);
const struct wv_command_row *wv_abi_at(uint8_t index);

/* The row of an attribute of @row, or NULL if @row has no such attribute. */
const struct wv_attr_row *wv_abi_attr(const struct wv_command_row *row, uint16_t id);

/* All rows, for code that walks the table (tests, documentation). */
const struct wv_command_row *wv_abi_rows(unsigned int *n);

/* Whether the command creates an object of type @about (UVERBS_OBJECT_*). */
static inline bool wv_abi_creates(const struct wv_command_row *row, uint16_t about)
{
	return row->class_ == WV_CREATE && row->about == about;
}

/* Whether queue pairs of the driver may be made before the program asks for them. */
bool wv_abi_prepares_qps(uint32_t driver_id);

/* The driver's row, or NULL if its private payloads are unknown: such a device is never leased. */
const struct wv_driver_row *wv_abi_driver(uint32_t driver_id);

/*
 * Some methods carry a command of another kind: INVOKE_WRITE a legacy one, a driver's method
 * perhaps one of the firmware. Returns its number; WV_NO_WRITE_CMD for any other method.
 */
uint32_t wv_abi_write_cmd(const struct ib_uverbs_ioctl_hdr *cmd);
/* The same number, if it is in attribute @attr of the method, which has the input @bytes. */
uint32_t wv_abi_carried(uint32_t driver_id, uint16_t object, uint16_t method, uint16_t attr,
			const void *bytes, size_t len);

/*
 * Where an attribute's input bytes are: inline in the attribute up to eight bytes, else where it
 * points (rdma_user_ioctl_cmds.h, struct ib_uverbs_attr).
 */
static inline const void *wv_attr_input(const struct ib_uverbs_attr *attr)
{
	return attr->len <= sizeof(attr->data) ? (const void *)&attr->data
					       : (const void *)(uintptr_t)attr->data;
}

/* A field as a number, and back. */
uint64_t wv_field_get(const struct wv_field *field, const void *payload);
void wv_field_set(const struct wv_field *field, void *payload, uint64_t value);

static inline bool wv_field_fits(const struct wv_field *field, size_t len)
{
	return field->offset + field->size <= len;
}

/*
 * Calls @visit for each field of @known that fits in the @len bytes of @payload, until @visit
 * returns other than 0. Returns what @visit returned last.
 */
typedef int (*wv_visit_field)(void *data, const struct wv_field *field, uint8_t *payload);
int wv_attr_fields(const struct wv_attr_row *known, const void *payload, size_t len,
		   wv_visit_field visit, void *data);
