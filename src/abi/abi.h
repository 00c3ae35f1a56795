/*
 * What warmverbs knows of the uverbs ABI, as data.
 *
 * One row describes one command: an ioctl method, or a legacy write() command carried by
 * UVERBS_METHOD_INVOKE_WRITE. Recording, normalising, validating, replaying and adopting are loops
 * over these rows; nothing else in the tree knows a layout. Layouts come from <rdma/...>.
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
	WV_EQUAL,      /* input: must be equal to be the same command */
	WV_OUT,	       /* output: the recorded answer is copied here */
	WV_HANDLE,     /* names an object: patched to the lease's handle */
	WV_NEW_HANDLE, /* receives the handle of the object made */
	WV_FD,	       /* names a descriptor: compared by which one it is, not by number */
	WV_NEW_FD,     /* receives the descriptor made */
	WV_TOKEN,      /* user handle: any value, comes back in events */
	WV_POINTER,    /* user address: private to the process, never compared */
	WV_NUMBER,     /* hardware number that an earlier answer gave: patched to the lease's */
	WV_NEW_NUMBER, /* receives such a number */
	WV_BUFFER,     /* user address of a queue: the start of memory that the program allocated */
	WV_DOORBELL,   /* user address of a doorbell record, inside memory that objects share */
	WV_IGNORED,    /* the kernel does not look at it */
	WV_VOLATILE,   /* differs from run to run (packet sequence numbers) */
	WV_KINDS
};

/* What may be done with a command ahead of time. */
enum wv_class {
	WV_CREATE,     /* makes an object that is the program's alone: done ahead */
	WV_CONSTANT,   /* its answer does not change while the device lives: done ahead */
	WV_OPENING,    /* constant only in what ibv_open_device() looks at: answered there alone */
	WV_MEMORY,     /* no command: memory that the program allocated for queues */
	WV_MODIFY,     /* moves a QP: done ahead as far as wv_abi_ahead() says */
	WV_QUERY,      /* reads a QP: done ahead only while the QP is as it was created */
	WV_DESTROY,    /* ends an object: the kernel's, and ends what names it */
	WV_PASS,       /* state, or memory of the program: always the kernel's */
	WV_PRIVILEGED, /* may need rights of the opener that a lease does not give */
	WV_DATA,       /* data path: not looked at, not recorded */
	WV_CLASSES
};

struct wv_field {
	uint16_t offset;
	uint8_t size;
	uint8_t kind; /* enum wv_kind */
};

/*
 * No pointers inside: the table is then the same in every process, and costs none of them a
 * relocation at start.
 */
struct wv_attr_row {
	uint16_t id;
	uint8_t kind; /* enum wv_kind */
	uint8_t n_fields;
	struct wv_field fields[3]; /* kinds inside the payload; what is not named is WV_EQUAL */
};

struct wv_command_row {
	uint32_t driver_id; /* whose command it is, or WV_ANY_DRIVER */
	uint16_t object, method;
	uint32_t write_cmd; /* carried by it: see wv_abi_write_cmd() */
	uint8_t class_;	    /* enum wv_class */
	uint8_t n_attrs;
	char name[22];
	struct wv_attr_row attrs[18];
};

/* A kernel driver whose private payloads (UHW_IN, UHW_OUT) are known, so that it may be leased. */
struct wv_driver_row {
	uint32_t driver_id; /* enum rdma_driver_id */
	const char *provider;
	bool own_rows;	  /* it has rows in the table */
	bool user_queues; /* queues lie in memory of the program, not of the kernel */
};

/* How far queue pairs of a type are moved before the program asks. */
struct wv_ahead_row {
	uint32_t driver_id; /* or WV_ANY_DRIVER */
	uint32_t qp_type;   /* enum ib_uverbs_qp_type */
	uint16_t flags_at;  /* offset in UHW_IN of creation, where a driver has types of its own */
	uint32_t flags_mask, flags;
	uint8_t state;	   /* enum ibv_qp_state */
	bool can_be_reset; /* the kernel takes it back to RESET */
};

#define WV_NO_WRITE_CMD 0xffffffffu
#define WV_ANY_DRIVER	RDMA_DRIVER_UNKNOWN

/* Not a command of the kernel: a program's allocation of memory for queues, as a step of a command
 * log. */
#define WV_OBJECT_MEMORY 0xffff

/* Attributes of such a step. */
enum wv_memory_attr {
	WV_ATTR_MEMORY_SIZE,	/* uint64_t, bytes */
	WV_ATTR_MEMORY_PATTERN, /* struct wv_series[], see cmdlog/pattern.h */
};

/*
 * The row of a driver's command, or NULL if warmverbs does not know it. @write_cmd is what
 * wv_abi_write_cmd() says; a row with WV_NO_WRITE_CMD is for all that its method carries and that
 * has no row of its own.
 */
const struct wv_command_row *wv_abi_find(uint32_t driver_id, uint16_t object, uint16_t method,
					 uint32_t write_cmd);

/* The same without knowing the driver, for names that people read. */
const struct wv_command_row *wv_abi_find_any(uint16_t object, uint16_t method, uint32_t write_cmd);

/*
 * Whether @row, which is for just this command, is the one that wv_abi_find() would find; quicker.
 */
bool wv_abi_describes(const struct wv_command_row *row, uint32_t driver_id, uint16_t object,
		      uint16_t method, uint32_t write_cmd);

/* A row's number in this build's table, and back (NULL: no such row). */
uint8_t wv_abi_index(const struct wv_command_row *row);
const struct wv_command_row *wv_abi_at(uint8_t index);

/* The row of an attribute of @row, or NULL if it is not known there. */
const struct wv_attr_row *wv_abi_attr(const struct wv_command_row *row, uint16_t id);

/* All rows, for those who walk the table (tests, documentation). */
const struct wv_command_row *wv_abi_rows(unsigned int *n);

/* The driver's row, or NULL if its private payloads are unknown: nothing of it is leased. */
const struct wv_driver_row *wv_abi_driver(uint32_t driver_id);

/* Names for people; never NULL. */
const char *wv_kind_name(enum wv_kind kind);
const char *wv_class_name(enum wv_class class_);

/* How far a QP of @qp_type, created with the private payload @uhw_in, goes; NULL: nowhere. */
const struct wv_ahead_row *wv_abi_ahead(uint32_t driver_id, uint32_t qp_type, const void *uhw_in,
					size_t len);

/*
 * Some methods carry a command of another kind: INVOKE_WRITE a legacy one, mlx5's DEVX_OTHER one of
 * the firmware. Its number; WV_NO_WRITE_CMD for any other method.
 */
uint32_t wv_abi_write_cmd(const struct ib_uverbs_ioctl_hdr *cmd);
/* The same number, if attribute @attr of the method, with input @bytes, is where it stands. */
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
