/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The stand-in's model of mlx5 adapters and of the kernel objects in front of them: plain
 * structures and functions, without sockets, so that the tests can use them without a server.
 *
 * Unless a comment says otherwise, everything here is read and written with net->lock held.
 * Functions that can fail return 0 or -errno.
 *
 * Numbers of objects (cqn, qpn, srqn, pdn, memory keys) are unique on the adapter; handles are
 * unique in a ufile. An object lives until its destroying command or the end of its ufile. Only
 * code that forgets the object in hca_data_forget_*() may keep a pointer to it across an unlock.
 */
#pragma once

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#define HCA_PAGE      4096u
#define HCA_N_GIDS    8u /* entries of the port's table */
#define HCA_N_VECTORS 4u /* completion vectors */
#define HCA_MAX_WQEBB 32768u
#define HCA_SQ_STRIDE 64u /* bytes of one basic block of a send queue */
#define HCA_MAX_UIDX  (1u << 24)
#define HCA_NO_UIDX   0xffffffu
#define HCA_PORT      1
#define HCA_MTU	      IBV_MTU_1024 /* of the port, active */
#define HCA_PKEY      0xffff

struct hca;
struct hca_ufile;

/* An entry of the port's table. */
struct hca_gid {
	uint8_t raw[16]; /* network order */
	enum ib_uverbs_gid_type type;
	bool valid;	/* programs see it, and the adapter sends and receives with it */
	uint32_t users; /* address handles and queue pairs; the entry is not free before they end */
};

/* Memory of a client: pinned queues, doorbell records, memory regions. */

/*
 * @length bytes at @va of process @pid. Shared file memory is mapped into the server as well
 * (@map), and so outlives the process; private memory is reached through the process, for as long
 * as it lives.
 */
struct hca_mem {
	pid_t pid;
	uint64_t va;
	uint64_t length;
	uint8_t *map;	       /* NULL: reached through @pid */
	struct hca_file *file; /* NULL with @map; owns the server's descriptor of the file */
	uint64_t file_offset;  /* of @va in the file */
};

/* -EFAULT if @offset + @bytes exceeds @length; -ESRCH if private memory's process is gone. */
int hca_mem_read(const struct hca_mem *mem, uint64_t offset, void *to, size_t bytes);
int hca_mem_write(struct hca_mem *mem, uint64_t offset, const void *from, size_t bytes);

/*
 * Doorbell records are big-endian words. Both are one access each, so that a client never sees half
 * of one.
 */
int hca_mem_read_be32(const struct hca_mem *mem, uint64_t offset, uint32_t *value);
int hca_mem_write_be32(struct hca_mem *mem, uint64_t offset, uint32_t value);

/* Objects of a ufile. */

enum hca_kind {
	HCA_PD,
	HCA_CQ,
	HCA_SRQ,
	HCA_QP,
	HCA_AH,
	HCA_MR,
	HCA_UAR,
	HCA_DEVX, /* an object made by a raw firmware command */
	HCA_KINDS,
};

/* All objects begin with this. @users counts the objects that use it: it can't be destroyed. */
struct hca_object {
	enum hca_kind kind;
	uint32_t handle;
	uint32_t users;
	struct hca_ufile *ufile;
	LIST_ENTRY(hca_object) of_ufile;
};

struct hca_pd {
	struct hca_object object;
	uint32_t pdn;
};

struct hca_mr {
	struct hca_object object;
	struct hca_pd *pd;
	uint32_t key;	 /* lkey and rkey alike */
	uint32_t access; /* IBV_ACCESS_* */
	uint64_t iova;	 /* work requests address the first byte by this */
	uint64_t length;
	struct hca_mem mem; /* as long as @length */
};

struct hca_ah {
	struct hca_object object;
	struct hca_pd *pd;
	struct hca_gid *gid; /* of this side; NULL without a global address */
};

struct hca_uar {
	struct hca_object object;
	uint32_t page_id; /* what CREATE_CQ and CREATE_QP name it by */
	uint32_t slot;	  /* its place in the file that stands for the BAR; see uar.c */
};

struct hca_devx {
	struct hca_object object;
	uint16_t opcode;
};

/* A completion channel or an async event file: a pipe of whole records, this is its writing end. */
struct hca_events;

struct hca_cq {
	struct hca_object object;
	uint32_t cqn;
	uint32_t n_cqe;	   /* a power of two */
	uint32_t cqe_size; /* 64 or 128 bytes; of 128 the second half is the record */
	uint32_t vector;
	uint32_t flags; /* of the driver's create command */
	uint64_t user_handle;
	struct hca_mem buf;	    /* n_cqe * cqe_size */
	struct hca_mem db;	    /* two words: consumer index, arm */
	struct hca_events *channel; /* NULL without */
	struct hca_events *async;
	uint32_t comp_events_reported, async_events_reported; /* events read by the program */
	void *data; /* the data path's; NULL at creation */
	LIST_ENTRY(hca_cq) of_hca;
};

struct hca_srq {
	struct hca_object object;
	uint32_t srqn;
	uint32_t n_wqe; /* a power of two, entries of the buffer */
	uint32_t wqe_shift;
	uint32_t max_wr, max_sge, limit;
	uint64_t user_handle;
	struct hca_pd *pd;
	struct hca_mem buf; /* n_wqe << wqe_shift */
	struct hca_mem db;  /* first word: receive counter */
	struct hca_events *async;
	uint32_t async_events_reported;
	void *data;
	LIST_ENTRY(hca_srq) of_hca;
};

enum hca_qp_type { HCA_RC, HCA_UC, HCA_UD, HCA_DCI, HCA_DCT, HCA_RAW, HCA_QP_TYPES };

/* What MODIFY_QP and, for a DCT, its creation, have set so far. */
struct hca_qp_attr {
	uint32_t dest_qpn, qkey, sq_psn, rq_psn;
	uint32_t access;   /* IBV_ACCESS_*: what the peer may do */
	uint32_t path_mtu; /* enum ibv_mtu */
	uint8_t timeout, retry_cnt, rnr_retry, min_rnr_timer;
	uint8_t max_rd_atomic, max_dest_rd_atomic;
	uint8_t port, pkey_index;
	struct ibv_ah_attr ah;
	uint64_t dc_key;
};

struct hca_qp {
	struct hca_object object;
	enum hca_qp_type type;
	enum ibv_qp_state state;
	/* A DCT has 0 until it is ready to receive, and then the number that peers address. */
	uint32_t qpn;
	uint32_t uidx;	       /* goes to CQEs as srqn_uidx, unless the QP has an SRQ */
	uint32_t flags;	       /* of the driver's create command */
	uint32_t create_flags; /* of the verbs */
	bool sq_sig_all;
	/* The receive queue is at the start of the buffer, the send queue behind it. */
	uint32_t rq_wqe_count, rq_wqe_shift;
	uint32_t sq_wqe_count; /* basic blocks */
	uint64_t sq_offset;
	struct ibv_qp_cap cap;
	uint64_t user_handle;
	struct hca_pd *pd;
	struct hca_cq *send_cq, *recv_cq; /* a DCT has no send_cq */
	struct hca_srq *srq;		  /* or NULL */
	struct hca_mem buf, db;		  /* db: receive counter, send counter; a DCT has neither */
	struct hca_qp_attr attr;
	struct hca_gid *gid; /* of this side, as attr.ah says; NULL before */
	struct hca_events *async;
	uint32_t async_events_reported;
	void *data;
	LIST_ENTRY(hca_qp) of_hca;
};

LIST_HEAD(hca_cqs, hca_cq);
LIST_HEAD(hca_srqs, hca_srq);
LIST_HEAD(hca_qps, hca_qp);
LIST_HEAD(hca_ufiles, hca_ufile);
LIST_HEAD(hca_objects, hca_object);

/*
 * Numbers of one kind, given in turn, so that a number just freed is not used again soon; with
 * @reuse, it is the next one.
 */
#define HCA_N_NUMBERS (1u << 16)
struct hca_numbers {
	uint32_t first, next;
	bool reuse;
	void *at[HCA_N_NUMBERS];
};

/* The Ethernet that the adapters are on, and their lock. */
struct hca_net {
	pthread_mutex_t lock;
	atomic_uint wanted; /* how many wait in hca_lock() */
	LIST_HEAD(, hca) hcas;
};

struct hca {
	struct hca_net *net;
	unsigned int number; /* from 1; in the GUID, the MAC address and the IP address */
	struct hca_gid gids[HCA_N_GIDS];
	LIST_ENTRY(hca) of_net;
	struct hca_ufiles ufiles;
	struct hca_cqs cqs; /* all that live, of all ufiles */
	struct hca_srqs srqs;
	struct hca_qps qps;
	struct hca_numbers cqns, srqns, qpns, pdns, keys;
	LIST_HEAD(, hca_file) files; /* pinned ones */
	int listener;		     /* the server's socket of this adapter */
	int epoll;		     /* of the thread that waits for events of its files */
	int folder;		     /* where the socket is: of sysfs and STANDIN_NODES */
	bool removed;		     /* the device is gone, until it returns */
	bool link_down;		     /* no packet comes or goes */
	uint32_t next_uar_page;
	uint32_t n_contexts;	   /* with a transport domain */
	struct hca_oracle *oracle; /* counts, faults and delays; oracle.h */
};

static inline void hca_lock(struct hca *hca)
{
	atomic_fetch_add(&hca->net->wanted, 1);
	pthread_mutex_lock(&hca->net->lock);
	atomic_fetch_sub(&hca->net->wanted, 1);
}

/* The lock is not fair: a thread that takes it again and again must yield while others wait. */
static inline bool hca_is_wanted(struct hca_net *net)
{
	return atomic_load(&net->wanted);
}

static inline void hca_unlock(struct hca *hca)
{
	pthread_mutex_unlock(&hca->net->lock);
}

/* NULL if there is none of that number now. @key: lkey or rkey. A DCT is found by its dctn. */
struct hca_qp *hca_qp_at(struct hca *hca, uint32_t qpn);
struct hca_mr *hca_mr_at(struct hca *hca, uint32_t key);

/* The valid entry of @index in the port's table; NULL if there is none. */
struct hca_gid *hca_gid_at(struct hca *hca, unsigned int index);
/* The adapter that has a valid entry of this GID and type; NULL if there is none. */
struct hca *hca_at_gid(struct hca_net *net, const uint8_t gid[16], enum ib_uverbs_gid_type type);

/* What the adapter tells. */

/* A completion event to the channel of @cq. Nothing without one. */
void hca_cq_event(struct hca_cq *cq);
/* Async events: IBV_EVENT_*, to the async file that the object was made with. */
void hca_cq_async(struct hca_cq *cq, enum ibv_event_type type);
void hca_qp_async(struct hca_qp *qp, enum ibv_event_type type);
void hca_srq_async(struct hca_srq *srq, enum ibv_event_type type);

/*
 * The adapter has found an error: @qp goes to IBV_QPS_ERR. The data path flushes it and raises the
 * event.
 */
void hca_qp_error(struct hca_qp *qp);

/*
 * The data path (tests/standin/data/), which moves what programs post.
 *
 * hca_data_start: once, before any object exists. Makes a thread, which takes net->lock for each
 * round over the queues of all adapters and gives it up between rounds.
 */
int hca_data_start(struct hca_net *net);
/* @qp has entered RESET: its counters start from zero. Also called right after its creation. */
void hca_data_reset_qp(struct hca *hca, struct hca_qp *qp);
/* The object is about to be freed: drop ->data, and completions that no one will poll. */
void hca_data_forget_qp(struct hca *hca, struct hca_qp *qp);
void hca_data_forget_cq(struct hca *hca, struct hca_cq *cq);
void hca_data_forget_srq(struct hca *hca, struct hca_srq *srq);
/* @qp has been modified, from state @from; its new state and attributes are set. */
void hca_data_modified_qp(struct hca *hca, struct hca_qp *qp, enum ibv_qp_state from);
