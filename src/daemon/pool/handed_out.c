/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/handed_out.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

static void free_holder(struct wv_holder *h)
{
	h->tenant->out.leases -= h->use.leases;
	h->tenant->out.fds -= h->use.fds;
	h->tenant->out.bytes -= h->use.bytes;
	h->all->use.leases -= h->use.leases;
	h->all->use.fds -= h->use.fds;
	h->all->use.bytes -= h->use.bytes;
	if (h->pid) {
		LIST_REMOVE(h, link);
		h->all->n_processes--;
		h->tenant->n_processes--;
	}
	sd_event_source_disable_unref(h->source);
	wv_close_fd(&h->pidfd);
	wv_tenant_put(h->tenant);
	free(h);
}

static int on_ended(sd_event_source *source, int fd, uint32_t events, void *data)
{
	(void)source;
	(void)fd;
	(void)events;
	free_holder(data);
	return 0;
}

static bool has_ended(int pidfd)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};

	return poll(&ended, 1, 0) > 0;
}

/* While the process lives, nobody else has its number. */
static struct wv_holder *find(struct wv_handed_out *o, const struct wv_tenant *tenant, pid_t pid)
{
	struct wv_holder *h;

	LIST_FOREACH (h, &o->buckets[(unsigned int)pid % WV_OUT_BUCKETS], link)
		if (h->pid == pid && h->tenant == tenant)
			break;
	if (!h || !has_ended(h->pidfd))
		return h;
	free_holder(h);
	return NULL;
}

/* A descriptor that stands for the process that connected @peer, or -errno. */
static int pidfd_of(struct wv_handed_out *o, int peer, pid_t pid)
{
	int pidfd = -1;
	socklen_t bytes = sizeof(pidfd);

	if (!o->old_kernel && !getsockopt(peer, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &bytes))
		return pidfd;
	if (!o->old_kernel && errno != ENOPROTOOPT)
		return -errno;
	o->old_kernel = true;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

static bool may_have_another(const struct wv_handed_out *o, const struct wv_tenant *tenant)
{
	uint32_t own = tenant->n_processes;

	return own < wv_share_limit(o->max_processes, o->n_processes - own);
}

static int watch(struct wv_holder *h, int peer)
{
	int err;

	if (!may_have_another(h->all, h->tenant))
		return -EDQUOT;
	h->pidfd = pidfd_of(h->all, peer, h->pid);
	if (h->pidfd < 0)
		return h->pidfd;
	if (has_ended(h->pidfd))
		return -ESRCH;
	err = sd_event_add_io(h->all->event, &h->source, h->pidfd, EPOLLIN, on_ended, h);
	return err < 0 ? err : sd_event_source_set_priority(h->source, WV_PRIORITY_RESULTS);
}

static int make(struct wv_handed_out *o, struct wv_tenant *tenant, int peer, pid_t pid,
		struct wv_holder **holder)
{
	struct wv_holder *h = calloc(1, sizeof(*h));
	int err = 0;

	if (!h)
		return -ENOMEM;
	*h = (struct wv_holder){.all = o, .tenant = tenant, .pid = pid, .pidfd = -1};
	if (pid)
		err = watch(h, peer);
	if (err < 0) {
		sd_event_source_disable_unref(h->source);
		wv_close_fd(&h->pidfd);
		free(h);
		return err;
	}
	wv_tenant_keep(tenant);
	if (pid) {
		LIST_INSERT_HEAD(&o->buckets[(unsigned int)pid % WV_OUT_BUCKETS], h, link);
		o->n_processes++;
		tenant->n_processes++;
	}
	*holder = h;
	return 0;
}

static bool has_share(const struct wv_handed_out *o, const struct wv_tenant *tenant,
		      const struct wv_cost *cost)
{
	uint64_t limit = wv_share_limit(o->max_bytes, o->use.bytes - tenant->out.bytes);

	return cost->bytes <= limit && tenant->out.bytes <= limit - cost->bytes;
}

int wv_handed_out_charge(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			 const struct wv_cost *cost, struct wv_holder **holder)
{
	struct ucred process;
	socklen_t bytes = sizeof(process);
	int err = 0;

	if (!has_share(o, tenant, cost))
		return -EDQUOT;
	if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &process, &bytes))
		return -errno;
	*holder = process.pid ? find(o, tenant, process.pid) : NULL;
	if (!*holder)
		err = make(o, tenant, peer, process.pid, holder);
	if (err)
		return err;
	wv_use_add(&(*holder)->use, cost);
	wv_use_add(&tenant->out, cost);
	wv_use_add(&o->use, cost);
	return 0;
}

void wv_handed_out_refund(struct wv_holder *h, const struct wv_cost *cost)
{
	wv_use_subtract(&h->use, cost);
	wv_use_subtract(&h->tenant->out, cost);
	wv_use_subtract(&h->all->use, cost);
	if (!h->use.leases)
		free_holder(h);
}

struct wv_holder *wv_holder_of_connection(struct wv_holder *holder)
{
	return holder->pid ? NULL : holder;
}

void wv_handed_out_disconnect(struct wv_holder *holder)
{
	if (holder)
		free_holder(holder);
}

void wv_handed_out_finish(struct wv_handed_out *o)
{
	for (unsigned int i = 0; i < WV_OUT_BUCKETS; i++)
		while (!LIST_EMPTY(&o->buckets[i]))
			free_holder(LIST_FIRST(&o->buckets[i]));
}
