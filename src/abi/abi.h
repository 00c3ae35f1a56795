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
	WV_IGNORED,    /* the kernel does not look at it */
	WV_VOLATILE,   /* differs from run to run (packet sequence numbers) */
	WV_KINDS
};

/* What may be done with a command ahead of time. */
enum wv_class {
	WV_CREATE,   /* makes an object that is the program's alone: done ahead */
	WV_CONSTANT, /* its answer does not change while the device lives: done ahead */
	WV_MODIFY,   /* moves a QP: done ahead as far as WV_AHEAD_STATE */
	WV_QUERY,    /* reads a QP: done ahead only while the QP is as it was created */
	WV_DESTROY,  /* ends an object: the kernel's, and ends what names it */
	WV_PASS,     /* state, or memory of the program: always the kernel's */
	WV_DATA,     /* data path: not looked at, not recorded */
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
	uint16_t object, method;
	uint32_t write_cmd; /* of UVERBS_METHOD_INVOKE_WRITE, else WV_NO_WRITE_CMD */
	uint8_t class_;	    /* enum wv_class */
	uint8_t n_attrs;
	char name[22];
	struct wv_attr_row attrs[18];
};

/* A kernel driver whose private payloads (UHW_IN, UHW_OUT) are known, so that it may be leased. */
struct wv_driver_row {
	uint32_t driver_id; /* enum rdma_driver_id */
	const char *provider;
};

#define WV_NO_WRITE_CMD 0xffffffffu

/*
 * The row of a command, or NULL if warmverbs does not know it. @write_cmd is WV_NO_WRITE_CMD except
 * for INVOKE_WRITE.
 */
const struct wv_command_row *wv_abi_find(uint16_t object, uint16_t method, uint32_t write_cmd);

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

/* The legacy command carried by an INVOKE_WRITE, WV_NO_WRITE_CMD for any other command. */
uint32_t wv_abi_write_cmd(const struct ib_uverbs_ioctl_hdr *cmd);

/*
 * Where an attribute's input bytes are: inline in the attribute up to eight bytes, else where it
 * points (rdma_user_ioctl_cmds.h, struct ib_uverbs_attr).
 */
static inline const void *wv_attr_input(const struct ib_uverbs_attr *attr)
{
	return attr->len <= sizeof(attr->data) ? (const void *)&attr->data
					       : (const void *)(uintptr_t)attr->data;
}
