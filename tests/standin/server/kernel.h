/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's side of the stand-in, which the data path does not use: ufiles, handles, event
 * files, pins. Everything here is called with net->lock held.
 */
#pragma once

#include "hca.h"
#include "oracle.h"

#include "../protocol.h"

/* Memory. */

struct hca_file {
	uint64_t device, inode;
	int fd;
	unsigned int users;
	LIST_ENTRY(hca_file) of_hca;
};

/*
 * Fills in @mem: @length bytes at @va of @pid; with no bytes, @mem holds nothing. @where says what
 * the process knows of the mapping there; @fd is its file, or -1, and stays the caller's. -EFAULT:
 * no such memory.
 */
int hca_mem_pin(struct hca *hca, struct hca_mem *mem, pid_t pid, uint64_t va, uint64_t length,
		const struct standin_memory *where, int fd);
void hca_mem_unpin(struct hca_mem *mem);
/* True if a page is in both. */
bool hca_mem_share_page(const struct hca_mem *a, const struct hca_mem *b);
/* True if a page of @mem is pinned as a queue of a living object. */
bool hca_mem_is_queue(struct hca *hca, const struct hca_mem *mem);
/* True if @mem is part of the doorbell record of a living object that another process has made. */
bool hca_mem_is_record(struct hca *hca, const struct hca_mem *mem);

/* Event files. */

struct hca_record;
TAILQ_HEAD(hca_records, hca_record);

struct hca_events {
	struct hca_ufile *ufile; /* NULL when that is gone */
	bool is_channel;
	int fd; /* writing end of the pipe; -1 when no reader is left */
	uint64_t inode;
	unsigned int users;	    /* objects made with it */
	struct hca_records records; /* what programs have not read yet, as far as known */
	unsigned int n_sent;	    /* how many of them, from the first, are in the pipe */
	LIST_ENTRY(hca_events) of_ufile;
};
LIST_HEAD(hca_event_files, hca_events);

/* Makes one; @reader is its reading end, the caller's. */
int hca_events_new(struct hca_ufile *ufile, bool is_channel, struct hca_events **events,
		   int *reader);
/* An object is made with @events; NULL is allowed. */
struct hca_events *hca_events_use(struct hca_events *events);
/*
 * The object at @owner is gone: its unread events in @events are removed, and those that were read
 * are counted where the object said when it posted them. NULL is allowed.
 */
void hca_events_unuse(struct hca_events *events, const void *owner);
/* Posts an async event of the port to @ufile. */
void hca_port_async(struct hca_ufile *ufile, enum ibv_event_type type);
/* The last reader has gone. */
void hca_events_close(struct hca_events *events);
/* There is room in the pipe again. */
void hca_events_flush(struct hca_events *events);

/* Ufiles. */

struct hca_ufile {
	struct hca *hca;
	uint64_t cookie;
	int sock;  /* our end; hangs up when the last copy of the other is closed */
	int pages; /* a memfd: clock, clock info, and a page for each UAR */
	bool has_context, has_devx;
	bool net_raw, sys_rawio; /* capabilities of the process that made the context */
	bool closed;		 /* no descriptor left, only mappings */
	bool disassociated;	 /* its device was removed */
	struct hca_object **handles;
	uint32_t n_handles;
	struct hca_objects objects;
	struct hca_event_files event_files;
	struct hca_events *async; /* the first async event file */
	LIST_ENTRY(hca_ufile) of_hca;
};

/* Makes one; @other is the program's end, the caller's. */
int hca_ufile_new(struct hca *hca, struct hca_ufile **ufile, int *other);
struct hca_ufile *hca_ufile_by_cookie(struct hca *hca, uint64_t cookie);
struct hca_events *hca_events_by_inode(const struct hca_ufile *ufile, uint64_t inode,
				       bool is_channel);
/* Its device is removed: its objects end, and all commands fail from now on. */
void hca_ufile_disassociate(struct hca_ufile *ufile);
/* Its last descriptor is closed. Frees it, unless one of its pages is still mapped somewhere. */
void hca_ufile_close(struct hca_ufile *ufile);
/* Frees the closed ones that are not mapped any more. True if there are others. */
bool hca_reap(struct hca *hca);
/* A new description of the page file; until it is closed everywhere, it counts as a mapping. */
int hca_ufile_map(struct hca_ufile *ufile, bool writable);
bool hca_ufile_is_mapped(const struct hca_ufile *ufile);

/* Objects. */

/* Gives @object its kind, ufile and handle. */
int hca_object_add(struct hca_ufile *ufile, enum hca_kind kind, struct hca_object *object);
/* -ENOENT: no such handle; -EINVAL: of another kind. */
int hca_object_get(struct hca_ufile *ufile, uint64_t handle, enum hca_kind kind, void *object);
/*
 * Destroys and frees. -EBUSY while it is used, or the errno that a test wants. Never refused with
 * @work->pid 0.
 */
int hca_object_destroy(struct hca_object *object, struct hca_work *work);

/* Each kind's own part of that, before it is freed. -errno: then it stays. */
int hca_cq_fini(struct hca_object *object, struct hca_work *work);
int hca_srq_fini(struct hca_object *object, struct hca_work *work);
int hca_qp_fini(struct hca_object *object, struct hca_work *work);
int hca_uar_fini(struct hca_object *object, struct hca_work *work);

/* The context's firmware objects; see device.c. */
void hca_context_fini(struct hca_ufile *ufile, struct hca_work *work);

/* Numbers: 0 if all are taken. */
uint32_t hca_number_take(struct hca_numbers *numbers, void *object);
void hca_number_free(struct hca_numbers *numbers, uint32_t number);

/* What the main thread waits for: kind, and cookie or inode. */
enum hca_watch { HCA_WATCH_LISTEN, HCA_WATCH_UFILE, HCA_WATCH_EVENTS };
#define HCA_WATCH_ID(kind, id) ((uint64_t)(kind) << 60 | (id))
int hca_watch(struct hca *hca, int fd, uint32_t events, uint64_t id);

/* Adapter @number of @net. Its ->folder is open already. */
void hca_init(struct hca *hca, struct hca_net *net, unsigned int number, struct hca_oracle *oracle);
