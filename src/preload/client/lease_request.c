#include "preload/client/lease_request.h"

#include "base/base.h"
#include "base/build_id.h"
#include "preload/client/open_outcome.h"
#include "preload/client/provider_list.h"
#include "preload/core/context.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/core/trace.h"
#include "preload/memory/shared_blocks.h"
#include "preload/prefork/set_resources.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct request {
	int sock, node; /* the daemon's answer comes here; opened by ourselves; -1: none */
	dev_t rdev;	/* of the node */
	char path[64];
};

/* The request under way: at most one, for the next open of its path. */
static struct request pending = {.sock = -1, .node = -1};

/* What is made ahead is in no hurry, but a fork may be waiting for the thread that makes it. */
#define AHEAD_WAIT_MS 5

static bool daemon_gone;	  /* did not answer once: not asked again */
static bool daemon_answered;	  /* at least once */
static uint32_t open_number;	  /* opens of RDMA devices so far */
static __thread uint32_t open_as; /* of what is made ahead: the number that its owner will have */

/* What the next open is to the daemon. */
static uint32_t next_number(void)
{
	return wv_making ? open_as : open_number;
}

static int open_node(const char *path)
{
	int fd = real_open(path, O_RDWR | O_CLOEXEC, 0);

	return fd < 0 ? -errno : fd;
}

/* The device that @fd is a node of; 0, which no device has, if it is none. */
static dev_t rdev_of(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISCHR(st.st_mode) ? st.st_rdev : 0;
}

static void hide(int fd)
{
	wv_fd_track(fd, (struct wv_fd_entry){.kind = WV_FD_PRIVATE});
}

static uint64_t hash_argv(void)
{
	uint64_t hash = WV_HASH_START;

	for (char **arg = wv_argv(); arg && *arg; arg++)
		hash = wv_hash(hash, *arg, strlen(*arg) + 1);
	return hash;
}

/* As much as fits, with an end mark; the rest of @to is zero already. */
static void copy_start(char *to, size_t capacity, const char *from)
{
	size_t bytes = strlen(from);

	memcpy(to, from, bytes < capacity ? bytes : capacity - 1);
}

void wv_client_describe(struct wv_msg_request *request, uint32_t number, uint32_t flags)
{
	memset(request, 0, sizeof(*request));
	wv_msg_init(&request->msg, WV_MSG_REQUEST, sizeof(*request));
	wv_id_of_program(&request->program);
	wv_id_of_loaded("libibverbs.so", 0, &request->verbs);
	request->argv = hash_argv();
	request->open_number = number;
	request->flags = flags;
	copy_start(request->comm, sizeof(request->comm), program_invocation_short_name);
	copy_start(request->name, sizeof(request->name), wv_settings()->name);
}

int wv_client_connect(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	wv_auto_fd sock = -1;

	if (!wv_copy_string(to.sun_path, sizeof(to.sun_path), wv_settings()->socket))
		return -ENAMETOOLONG;
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0 || connect(sock, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	return wv_steal_fd(&sock);
}

/* Sends the request; the socket to read the answer from, or -errno. */
static int ask(int node, uint32_t number, uint32_t flags)
{
	struct wv_msg_request request;
	wv_auto_fd sock = wv_client_connect();
	int err;

	if (sock < 0)
		return sock;
	wv_client_describe(&request, number, flags);
	err = wv_send(sock, &request, sizeof(request), NULL, 0, &node, 1);
	return err ? err : wv_steal_fd(&sock);
}

static enum wv_reason why_unasked(void)
{
	return daemon_gone ? WV_REASON_NO_DAEMON : wv_why_unasked();
}

static bool should_ask(void)
{
	return why_unasked() == WV_REASON_NONE;
}

/* Call with the lock held. */
static void request_locked(const char *path)
{
	if (pending.sock >= 0 || !should_ask() ||
	    !wv_copy_string(pending.path, sizeof(pending.path), path))
		return;
	pending.node = open_node(path);
	if (pending.node < 0)
		return;
	pending.rdev = rdev_of(pending.node);
	pending.sock = ask(pending.node, next_number(), 0);
	if (pending.sock < 0) {
		daemon_gone = true;
		wv_close_fd(&pending.node);
		pending.node = -1;
		return;
	}
	hide(pending.node);
	hide(pending.sock);
}

void wv_client_request(const char *path)
{
	int saved = errno;

	wv_context_prepare();
	wv_lock();
	request_locked(path);
	wv_unlock();
	errno = saved;
}

static void drop_locked(void)
{
	wv_fd_close_private(&pending.sock);
	wv_fd_close_private(&pending.node);
}

void wv_client_drop_request(void)
{
	int saved = errno;

	wv_lock();
	if (pending.sock >= 0)
		drop_locked();
	wv_unlock();
	errno = saved;
}

void wv_client_forget_request(void)
{
	drop_locked();
}

void wv_client_forget_fd(int fd)
{
	if (fd == pending.sock)
		pending.sock = -1;
	if (fd == pending.node)
		pending.node = -1;
	if (pending.sock < 0 || pending.node < 0)
		drop_locked();
}

int wv_client_receive(int sock, void *message, size_t capacity, int *fds, unsigned int *n_fds)
{
	struct pollfd wait = {.fd = sock, .events = POLLIN};
	ssize_t got = wv_recv(sock, message, capacity, fds, WV_WIRE_MAX_FDS, n_fds);

	if (got == -EAGAIN) {
		if (poll(&wait, 1, wv_making ? AHEAD_WAIT_MS : WV_WAIT_MS) <= 0)
			return -ETIMEDOUT;
		got = wv_recv(sock, message, capacity, fds, WV_WIRE_MAX_FDS, n_fds);
	}
	if (got <= 0)
		return got < 0 ? (int)got : -ECONNRESET;
	return wv_msg_check(message, (size_t)got);
}

/*
 * Whether @fd is a ufile whose device is still there. An empty header is refused by uverbs alone
 * with EINVAL (ib_uverbs_ioctl()), and costs a tenth of asking for its status.
 */
static bool is_ufile(int fd)
{
	struct ib_uverbs_ioctl_hdr empty = {0};

	return real_ioctl(fd, RDMA_VERBS_IOCTL, &empty) < 0 && errno == EINVAL;
}

static bool lease_fits(const struct wv_context *c, struct wv_msg_lease *msg, const int *fds,
		       unsigned int n_fds, dev_t rdev)
{
	const struct wv_cmdlog *cmdlog = (const struct wv_cmdlog *)(msg + 1);

	if (wv_cmdlog_check(msg + 1, msg->msg.bytes - sizeof(*msg), WV_LEASE) ||
	    msg->n_fds != cmdlog->n_fds || n_fds != 1u + cmdlog->n_fds + !!cmdlog->memory)
		return false;
	return rdev && msg->rdev == rdev && is_ufile(fds[0]) &&
	       !memcmp(&c->provider, &msg->provider, sizeof(c->provider));
}

/* The queues' memory, of which all that the command log speaks of is there; NULL if it is not. */
static uint8_t *map_memory(int fd, size_t bytes)
{
	struct stat st;
	void *at;

	if (fstat(fd, &st) || (uint64_t)st.st_size < bytes)
		return NULL;
	/* The provider writes through all of it, and the device has all of it: no page is spared.
	 */
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* Makes the lease in @c->message the program's. The descriptors become the context's, or stay. */
static bool take_lease(struct wv_context *c, const int *fds)
{
	struct wv_cmdlog *cmdlog = (struct wv_cmdlog *)((struct wv_msg_lease *)c->message + 1);
	uint8_t *memory = NULL;

	for (unsigned int i = 0; i <= cmdlog->n_fds; i++)
		if (fds[i] >= WV_MAX_FD)
			return false;
	if (cmdlog->memory) {
		memory = map_memory(fds[1 + cmdlog->n_fds], cmdlog->memory);
		if (!memory)
			return false;
		close(fds[1 + cmdlog->n_fds]);
	}
	wv_lease_init(&c->lease, cmdlog);
	c->lease.opening = c->opening;
	if (memory) {
		wv_shared_block_note(memory, cmdlog->memory);
		wv_lease_place(&c->lease, memory);
	}
	wv_context_track(c, fds[0], WV_FD_COMMAND, 0);
	for (unsigned int i = 1; i <= cmdlog->n_fds; i++) {
		c->lease.fds[i - 1] = fds[i];
		wv_context_track(c, fds[i], WV_FD_EVENTS, i - 1);
	}
	c->mode = WV_LEASED;
	c->stopped = false;
	return true;
}

/* What the daemon knows of the device, kept until ibv_open_device() has returned. */
static void keep_constants(struct wv_context *c, const struct wv_msg_no_lease *none)
{
	size_t bytes = none->msg.bytes - sizeof(*none);
	void *copy;

	if (!c->opening || !bytes)
		return;
	copy = malloc(bytes);
	if (!copy)
		return;
	memcpy(copy, none + 1, bytes);
	if (wv_cmdlog_check(copy, bytes, WV_LEASE))
		free(copy);
	else
		wv_lease_init(&c->constants, copy);
}

static void start_recording(struct wv_context *c)
{
	wv_cmdlog_begin(&c->record, c->message, sizeof(c->message), WV_RECORD, 0);
	c->mode = WV_RECORDING;
	c->stopped = false;
}

/*
 * Collects the answer to @r for @c. Returns the lease's command descriptor, or -1 to go on with the
 * node that the program opened itself.
 */
static int collect(struct wv_context *c, const struct request *r)
{
	int fds[WV_WIRE_MAX_FDS];
	unsigned int n_fds = 0;
	int type = wv_client_receive(r->sock, c->message, sizeof(c->message), fds, &n_fds);
	struct wv_msg_no_lease *none = (void *)c->message;

	daemon_answered = daemon_answered || type >= 0;
	if (type == WV_MSG_LEASE && lease_fits(c, (void *)c->message, fds, n_fds, r->rdev) &&
	    take_lease(c, fds))
		return fds[0];
	for (unsigned int i = 0; i < n_fds; i++)
		close(fds[i]);
	if (type < 0 && !wv_making)
		daemon_gone = true;
	c->no_lease = type == WV_MSG_NO_LEASE ? none->reason : WV_NO_LEASE_UNFIT;
	if (type == WV_MSG_NO_LEASE)
		keep_constants(c, none);
	if (type == WV_MSG_NO_LEASE && none->reason == WV_NO_LEASE_RECORD)
		start_recording(c);
	return -1;
}

/* Opens what @r has prepared, for @provider. Call with the lock held. */
static int open_locked(struct request *r, const struct wv_build_id *provider)
{
	struct wv_context *c = wv_context_new(WV_PLAIN);
	int leased = -1;

	if (!c || r->node < 0) {
		wv_fd_close_private(&r->sock);
		return r->node;
	}
	c->provider = *provider;
	c->open_number = next_number();
	if (r->sock >= 0)
		leased = collect(c, r);
	if (leased >= 0) {
		c->node = r->node;
		hide(c->node);
	} else if (!wv_context_track(c, r->node, WV_FD_COMMAND, 0)) {
		c->mode = WV_PLAIN;
	}
	if (c->mode != WV_PLAIN)
		c->sock = r->sock;
	else
		wv_fd_close_private(&r->sock);
	return leased >= 0 ? leased : r->node;
}

static bool is_pending(const char *path)
{
	return pending.sock >= 0 && !strcmp(pending.path, path);
}

/* The pending request if it is for @path, else just the node. */
static struct request take_request(const char *path)
{
	struct request r = {.sock = -1, .node = -1};

	if (!is_pending(path)) {
		r.node = open_node(path);
		return r;
	}
	r = pending;
	wv_fd_untrack(r.node);
	pending.node = pending.sock = -1;
	return r;
}

/* With the lock held. */
static int answer_open(const char *path)
{
	struct wv_build_id provider = {0};
	struct request request;
	bool known;

	/* A lease fits one provider; whoever has another, or none that we know, is not served. */
	known = wv_provider_id(path, &provider);
	if (!is_pending(path) || !known)
		drop_locked();
	if (known)
		request_locked(path);
	request = take_request(path);
	return open_locked(&request, &provider);
}

/* What another thread has asked for stays pending. With the lock held. */
static int open_ahead(const char *path)
{
	struct request aside = pending;
	int fd;

	pending = (struct request){.sock = -1, .node = -1};
	fd = answer_open(path);
	drop_locked();
	pending = aside;
	return fd;
}

static int open_now(const char *path)
{
	int fd = answer_open(path);

	if (fd >= 0)
		wv_open_outcome_note(fd, why_unasked());
	open_number++;
	return fd;
}

int wv_client_open(const char *path)
{
	uint64_t start = wv_trace_now();
	int fd;

	wv_context_prepare();
	if (!wv_providers_known()) {
		wv_providers_read();
		wv_providers_load(false);
	}
	wv_lock();
	fd = wv_making ? open_ahead(path) : open_now(path);
	wv_unlock();
	wv_trace_open(start, fd);
	return fd;
}

void wv_client_open_as(uint32_t number)
{
	open_as = number;
}

void wv_client_send_record(int sock, const struct wv_build_id *provider,
			   const struct wv_cmdlog *record)
{
	struct wv_msg_record head = {.provider = *provider};

	wv_msg_init(&head.msg, WV_MSG_RECORD, sizeof(head) + record->bytes);
	wv_send(sock, &head, sizeof(head), record, record->bytes, NULL, 0);
}

void wv_client_send_report(int sock, struct wv_msg_report *report, struct wv_lease *lease)
{
	wv_msg_init(&report->msg, WV_MSG_REPORT, sizeof(*report));
	report->unused = 0;
	wv_each_step (lease->cmdlog, step)
		report->unused += step->state == WV_FREE;
	wv_send(sock, report, sizeof(*report), NULL, 0, NULL, 0);
}

enum wv_daemon wv_client_daemon(void)
{
	enum wv_daemon daemon = WV_DAEMON_UNKNOWN;

	wv_context_prepare();
	wv_lock();
	if (daemon_gone)
		daemon = WV_DAEMON_GONE;
	else if (daemon_answered)
		daemon = WV_DAEMON_ANSWERED;
	else if (wv_providers_known())
		daemon = WV_DAEMON_KNOWN;
	wv_unlock();
	return daemon;
}

void wv_client_retract(const struct wv_context *c)
{
	int sock = should_ask() ? ask(c->ufile, c->open_number, WV_REQUEST_UNFIT) : -1;

	if (sock >= 0)
		close(sock);
}
