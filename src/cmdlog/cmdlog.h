/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command log: a sequence of uverbs commands in canonical form, packed into one block of bytes
 * that can be sent, stored and used in place.
 *
 * The same layout has three forms:
 *   WV_RECORD  what a program did: handles and descriptors are the program's own numbers
 *   WV_RECIPE  a record without anything private to a process: only the steps that may be done
 *              ahead; a handle or descriptor is the number of the step that makes it
 *   WV_LEASE   a recipe carried out, with the kernel's answers: handles are the lease's,
 *              descriptors are slots
 *
 *   struct wv_cmdlog, then n_steps times: struct wv_step, its struct wv_attr[n_attrs], its payload
 *
 * Everything is 8-byte aligned, and the parts refer to each other by offsets. A block that passed
 * wv_cmdlog_check() can be walked without further tests.
 */
#pragma once

#include "abi/abi.h"

#include <stddef.h>
#include <stdint.h>

#define WV_CMDLOG_MAGIC	 0x45504154u /* "TAPE" */
#define WV_CMDLOG_FORMAT 2
/* One SOCK_SEQPACKET message under the default wmem_max. */
#define WV_CMDLOG_MAX_BYTES  (96u * 1024)
#define WV_CMDLOG_MAX_STEPS  512
#define WV_CMDLOG_MAX_ATTRS  24
#define WV_CMDLOG_MAX_FDS    32
#define WV_CMDLOG_MAX_MEMORY (1u << 30) /* bytes of queues in one lease */
#define WV_NONE		     0xffffffffu

enum wv_form { WV_RECORD = 1, WV_RECIPE, WV_LEASE };

/* Life of a step in the program that holds the lease. */
enum wv_state {
	WV_FREE,  /* done in the kernel, not yet asked for */
	WV_TAKEN, /* the program's */
	WV_DEAD,  /* never to be matched again; its object may still exist */
	WV_GONE,  /* unadopted, and its object was destroyed because it blocked another */
};

struct wv_cmdlog {
	uint32_t magic;
	uint16_t format;
	uint16_t form; /* enum wv_form */
	uint32_t bytes;
	uint16_t n_steps;
	uint16_t n_fds;	    /* WV_LEASE: descriptors made by the steps, slot 0 upwards */
	uint32_t driver_id; /* enum rdma_driver_id */
	uint32_t memory;    /* WV_LEASE: bytes of shared memory for the queues, 0: none */
};

struct wv_step {
	uint32_t bytes;
	uint16_t object, method;
	uint32_t write_cmd;
	uint8_t n_attrs;
	uint8_t class_;	     /* enum wv_class */
	uint8_t state;	     /* enum wv_state */
	uint8_t row;	     /* in the ABI table of this build; set by wv_cmdlog_check() */
	int32_t error;	     /* 0, or the errno that the kernel answered */
	uint32_t new_handle; /* made by this step, or WV_NONE */
	uint32_t new_fd;     /* made by this step, or WV_NONE */
	uint32_t target;     /* WV_MODIFY, WV_QUERY, WV_DESTROY: the object; else WV_NONE */
	uint32_t new_number; /* hardware number, or offset of memory, made by it, or WV_NONE */
	uint32_t reserved;
	uint64_t user_handle; /* WV_TAKEN: what the program gave for its token */
};

struct wv_attr {
	uint16_t id, len;
	uint8_t flags;	      /* UVERBS_ATTR_F_* */
	uint8_t kind;	      /* enum wv_kind */
	uint8_t valid_output; /* WV_LEASE: the kernel set UVERBS_ATTR_F_VALID_OUTPUT */
	uint8_t reserved;
	uint32_t payload; /* offset from the step of len bytes (8 if inline), 0 for none */
	uint32_t data;	  /* handle, descriptor or slot */
};

/*
 * A user handle that the kernel holds for step @i of a lease. No user address on any 64-bit
 * architecture has these top bits, so the translation of events leaves the pointers of objects that
 * the program made itself alone.
 */
#define WV_TOKEN_TAG   0x7a9e000000000000ull
#define WV_TOKEN_MASK  0xffff000000000000ull
#define WV_TOKEN(i)    (WV_TOKEN_TAG | (uint64_t)(i))
#define WV_IS_TOKEN(v) (((v)&WV_TOKEN_MASK) == WV_TOKEN_TAG)

static inline struct wv_step *wv_cmdlog_first(struct wv_cmdlog *cmdlog)
{
	return (struct wv_step *)(cmdlog + 1);
}

static inline struct wv_step *wv_step_next(struct wv_step *step)
{
	return (struct wv_step *)((uint8_t *)step + step->bytes);
}

static inline struct wv_attr *wv_step_attrs(struct wv_step *step)
{
	return (struct wv_attr *)(step + 1);
}

static inline uint8_t *wv_step_at(struct wv_step *step, uint32_t offset)
{
	return (uint8_t *)step + offset;
}

static inline struct wv_step *wv_cmdlog_end(struct wv_cmdlog *cmdlog)
{
	return (struct wv_step *)((uint8_t *)cmdlog + cmdlog->bytes);
}

/*
 * Fields that name a result of an earlier step.
 *
 *              record             recipe                    lease
 * handle       number             step                      number
 * number       number             step, with the field's    number
 *                                 top bit set; else a
 *                                 number that no step made
 * buffer,      id of memory       step + 1 << 32            offset in the lease's memory;
 * doorbell     << 32 | offset     | offset                  once it is placed, address
 * iova         the same           the same                  address at which the memory is
 *                                                           to be placed
 *
 * In all forms 0 means no memory; so the first page of a lease's memory stays unused.
 */
#define WV_FOREIGN_MEMORY UINT64_MAX /* in a record: in no allocation that was seen */

static inline uint64_t wv_number_is_step(const struct wv_field *field)
{
	return 1ull << (8 * field->size - 1);
}

/* An address of memory in the process. */
static inline bool wv_is_memory(const struct wv_field *field)
{
	return field->kind == WV_BUFFER || field->kind == WV_DOORBELL;
}

/* That, or what the adapter calls memory. */
static inline bool wv_names_memory(const struct wv_field *field)
{
	return wv_is_memory(field) || field->kind == WV_IOVA;
}

/* Loops over a command log that passed wv_cmdlog_check(). */
#define wv_each_step(cmdlog, step)                                                                 \
	for (struct wv_step *step = wv_cmdlog_first(cmdlog); step < wv_cmdlog_end(cmdlog);         \
	     step = wv_step_next(step))
#define wv_each_attr(step, attr)                                                                   \
	for (struct wv_attr *attr = wv_step_attrs(step),                                           \
			    *attrs_end_ = wv_step_attrs(step) + (step)->n_attrs;                   \
	     attr < attrs_end_; attr++)

/*
 * Checks that @bytes at @data are one well-formed command log of form @form: sizes, counts and all
 * offsets are in bounds, and classes and kinds agree with the ABI table. Stores each step's row in
 * the step. Does not judge the content (see cmdlog/validate.h). Returns 0 or -EPROTO.
 */
int wv_cmdlog_check(void *data, size_t bytes, enum wv_form form);

/* The row of a step that was checked or that a writer made. */
const struct wv_command_row *wv_step_row(const struct wv_step *step);

/* Step number @index of a command log that was checked; NULL: it has fewer. */
struct wv_step *wv_cmdlog_nth(struct wv_cmdlog *cmdlog, uint32_t index);

/* The attribute @id of @step, or NULL. */
struct wv_attr *wv_step_attr(struct wv_step *step, uint16_t id);

/* The input bytes of an attribute; NULL if it has none. */
const uint8_t *wv_attr_bytes(struct wv_step *step, const struct wv_attr *attr);

/*
 * Calls @visit for every named field of @step's inputs, with the payload that holds the field,
 * until @visit returns other than 0. Returns what @visit returned last.
 */
int wv_step_fields(struct wv_step *step, wv_visit_field visit, void *data);

/* Bytes of memory that a WV_MEMORY step allocates. */
uint64_t wv_step_memory_size(struct wv_step *step);

/* Adds @by to all addresses in @step: makes addresses of offsets in the lease's memory, or back. */
void wv_step_place(struct wv_step *step, uint64_t by);
