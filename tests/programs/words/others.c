/* SPDX-License-Identifier: BSD-2-Clause */
/* Words for rarer things: events, allocators, devx, flows, children. */
#include "words.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

/* Takes one event of a queue pair. */
int do_async(struct program *p, struct options o)
{
	struct qp *qp = chosen_qp(p, o);
	struct ibv_async_event event;

	if (ibv_get_async_event(p->context, &event))
		return errno;
	say(" event %d %s", event.event_type, event.element.qp == qp->qp ? "mine" : "of another");
	ibv_ack_async_event(&event);
	return 0;
}

/* The device, the port and a GID, as they are now. */
int do_attributes(struct program *p, struct options o)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	union ibv_gid gid;
	int error = 0;

	if (!has(o, "port"))
		error = ibv_query_device(p->context, &device);
	if (!error && !has(o, "port"))
		say(" qps %d", device.max_qp);
	if (!error)
		error = ibv_query_port(p->context, PORT, &port);
	if (!error && ibv_query_gid(p->context, PORT, 1, &gid))
		error = errno;
	if (!error)
		say(" state %d gid %016" PRIx64, port.state, be64toh(gid.global.interface_id));
	return error;
}

static unsigned int n_allocated;

/* Memory with its size in front, which only release() can free. */
static void *allocate(size_t size, void *data)
{
	uint8_t *at;

	(void)data;
	n_allocated++;
	if (!size)
		return NULL;
	at = mmap(NULL, PAGE + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return NULL;
	memcpy(at, &size, sizeof(size));
	return at + PAGE;
}

static void release(void *at, void *data)
{
	size_t size;

	(void)data;
	if (!at)
		return;
	memcpy(&size, (uint8_t *)at - PAGE, sizeof(size));
	munmap((uint8_t *)at - PAGE, PAGE + size);
}

/* Own allocators for queues; "say" prints how often they were called. */
int do_allocators(struct program *p, struct options o)
{
	struct mlx5dv_ctx_allocators own = {.alloc = allocate, .free = release};

	if (has(o, "say")) {
		say(" asked %u times", n_allocated);
		return 0;
	}
	return mlx5dv_set_context_attr(p->context, MLX5DV_CTX_ATTR_BUF_ALLOCATORS, &own);
}

static void *allocate_typed(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
			    uint64_t type)
{
	void *at = NULL;

	(void)pd;
	(void)context;
	(void)type;
	n_allocated++;
	if (posix_memalign(&at, alignment < PAGE ? PAGE : alignment, size))
		return NULL;
	return memset(at, 0, size); /* the provider relies on it */
}

static void release_typed(struct ibv_pd *pd, void *context, void *at, uint64_t type)
{
	(void)pd;
	(void)context;
	(void)type;
	free(at);
}

int do_parent(struct program *p, struct options o)
{
	struct ibv_parent_domain_init_attr attr = {
	    .pd = p->pd,
	    .comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
	    .alloc = allocate_typed,
	    .free = release_typed,
	};

	(void)o;
	p->parent = ibv_alloc_parent_domain(p->context, &attr);
	return p->parent ? 0 : errno;
}

/* Makes a raw firmware object, by the opcode. */
int do_devx(struct program *p, struct options o)
{
	uint16_t opcode = (uint16_t)option(o, "opcode", 0x904);
	uint8_t in[16] = {(uint8_t)(opcode >> 8), (uint8_t)opcode}, out[16] = {0};
	struct mlx5dv_devx_obj *object =
	    mlx5dv_devx_obj_create(p->context, in, sizeof(in), out, sizeof(out));

	return object ? 0 : errno;
}

static uint8_t *seen;
static uint8_t *lease;
static size_t lease_bytes;

/* Finds the memory of a lease in this process by the name of its file; 0 bytes without one. */
static void find_lease(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t start, end;
	char row[512];

	lease_bytes = 0;
	while (maps && fgets(row, sizeof(row), maps)) {
		if (!strstr(row, "memfd:warmverbs") || strstr(row, "rw-s") == NULL ||
		    sscanf(row, "%" SCNxPTR "-%" SCNxPTR, &start, &end) != 2)
			continue;
		lease = (uint8_t *)start;
		lease_bytes = end - start;
	}
	if (maps)
		fclose(maps);
}

/* Keeps a copy of the lease's memory as it was when the daemon made its objects. */
int do_look(struct program *p, struct options o)
{
	(void)p;
	(void)o;
	find_lease();
	if (!lease_bytes)
		return ENOENT;
	seen = malloc(lease_bytes);
	memcpy(seen, lease, lease_bytes);
	return 0;
}

/* The provider may get this file's contents from the preload; the program itself never does. */
int do_cpuinfo(struct program *p, struct options o)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	int error = file ? 0 : errno;

	(void)p;
	(void)o;
	if (file)
		fclose(file);
	return error;
}

/* A flow rule by which a queue pair gets all packets. */
int do_flow(struct program *p, struct options o)
{
	struct ibv_flow_attr attr = {
	    .type = IBV_FLOW_ATTR_ALL_DEFAULT, .size = sizeof(attr), .port = PORT};

	return ibv_create_flow(chosen_qp(p, o)->qp, &attr) ? 0 : errno;
}

/* Counts how many of its bytes have changed. */
int do_compare(struct program *p, struct options o)
{
	size_t differ = 0, used = 0;

	(void)p;
	(void)o;
	for (size_t i = 0; i < lease_bytes; i++) {
		differ += lease[i] != seen[i];
		used += !!seen[i];
	}
	if (differ)
		printf("# %zu of %zu bytes changed\n", differ, lease_bytes);
	return differ || !used ? EILSEQ : 0;
}

/* A child makes an object of its own. */
static void __attribute__((noreturn)) make_cq(const struct program *p)
{
	struct ibv_cq *cq = ibv_create_cq(p->context, 100, NULL, NULL, 0);

	printf("# child %d\n", getpid());
	fflush(stdout);
	_exit(!cq || ibv_destroy_cq(cq));
}

/* Makes a queue pair, says so, and keeps it until its parent ends. */
static void __attribute__((noreturn)) keep_qp(struct program *p, struct options o, int done)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	error = do_cq(p, o) ?: do_qp(p, o);
	if (write(done, &error, sizeof(error)) == sizeof(error))
		pause();
	_exit(1);
}

/* A child that has a queue pair of its own while the parent goes on. */
int do_keeper(struct program *p, struct options o)
{
	int done[2], error;
	pid_t child;

	if (pipe(done))
		return errno;
	fflush(stdout);
	child = fork();
	if (!child)
		keep_qp(p, o, done[1]);
	close(done[1]);
	if (child < 0 || read(done[0], &error, sizeof(error)) != sizeof(error))
		error = ECHILD;
	close(done[0]);
	return error;
}

static int open_and_close(struct program *p)
{
	const struct options none = {""};
	int error = do_open(p, none);

	return error ? error : do_close(p, none);
}

/* A child that ends in one of several ways, before the parent goes on. "unseen": by libc. */
int do_fork(struct program *p, struct options o)
{
	pid_t child;
	int status;

	fflush(stdout);
	child = has(o, "unseen") ? _Fork() : fork();
	if (!child && has(o, "cq"))
		make_cq(p);
	if (!child && has(o, "open"))
		_exit(open_and_close(p));
	if (!child && has(o, "crash"))
		raise(SIGKILL);
	if (!child && has(o, "exit"))
		exit(0);
	if (!child)
		_exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child)
		return errno;
	return status && !has(o, "crash") ? ECHILD : 0;
}
