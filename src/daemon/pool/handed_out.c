/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/handed_out.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/tenants/pidfd.h"

#include <errno.h>
#include <sys/socket.h>

void wv_end_unwatch(struct wv_end_watch *watch)
{
	if (watch->holder)
		LIST_REMOVE(watch, link);
	watch->holder = NULL;
}

static void free_holder(struct wv_holder *h)
{
	while (!LIST_EMPTY(&h->watches))
		wv_end_unwatch(LIST_FIRST(&h->watches));
	wv_loans_leave(&h->loans);
	if (h->pid) {
		LIST_REMOVE(h, link);
		wv_lender_charge_fd(&h->all->lender, h->tenant, -1);
	}
	sd_event_source_disable_unref(h->source);
	wv_close_fd(&h->pidfd);
	wv_tenant_put(h->tenant);
	free(h);
}

/* The process has ended. */
static void end_holder(struct wv_holder *h)
{
	struct wv_end_watch *watch;

	while ((watch = LIST_FIRST(&h->watches))) {
		wv_end_unwatch(watch);
		watch->ended(watch);
	}
	free_holder(h);
}

static int on_ended(sd_event_source *source, int fd, uint32_t events, void *data)
{
	(void)source;
	(void)fd;
	(void)events;
	end_holder(data);
	return 0;
}

/* While the process lives, nobody else has its number. */
static struct wv_holder *find(struct wv_handed_out *o, const struct wv_tenant *tenant, pid_t pid)
{
	struct wv_holder *h;

	LIST_FOREACH (h, &o->buckets[(unsigned int)pid % WV_OUT_BUCKETS], link)
		if (h->pid == pid && h->tenant == tenant)
			break;
	if (!h || !wv_pidfd_has_ended(h->pidfd))
		return h;
	end_holder(h);
	return NULL;
}

static int watch(struct wv_holder *h, int peer)
{
	int err;

	if (!wv_lender_has_fd(&h->all->lender, h->tenant))
		return -EDQUOT;
	h->pidfd = wv_pidfd_of(peer, h->pid);
	if (h->pidfd < 0)
		return h->pidfd;
	if (wv_pidfd_has_ended(h->pidfd))
		return -ESRCH;
	err = sd_event_add_io(h->all->lender.event, &h->source, h->pidfd, EPOLLIN, on_ended, h);
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
		wv_lender_charge_fd(&o->lender, tenant, 1);
	}
	*holder = h;
	return 0;
}

static int find_or_make(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			struct wv_holder **holder)
{
	struct ucred process;
	socklen_t bytes = sizeof(process);

	if (getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &process, &bytes))
		return -errno;
	*holder = process.pid ? find(o, tenant, process.pid) : NULL;
	return *holder ? 0 : make(o, tenant, peer, process.pid, holder);
}

int wv_handed_out_charge(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			 const struct wv_cost *cost, int memory, struct wv_charge *charge)
{
	struct wv_holder *holder = NULL;
	struct wv_loan *loan;
	int err = wv_loan_make(&o->lender, tenant, cost, memory, &loan);

	if (err)
		return err;
	err = find_or_make(o, tenant, peer, &holder);
	if (err) {
		wv_loan_end(loan);
		return err;
	}
	SLIST_INSERT_HEAD(&holder->loans, loan, link);
	*charge = (struct wv_charge){.holder = holder, .loan = loan};
	return 0;
}

void wv_handed_out_refund(const struct wv_charge *charge)
{
	struct wv_holder *h = charge->holder;

	SLIST_REMOVE(&h->loans, charge->loan, wv_loan, link);
	wv_loan_end(charge->loan);
	if (SLIST_EMPTY(&h->loans) && LIST_EMPTY(&h->watches))
		free_holder(h);
}

bool wv_handed_out_watch(struct wv_handed_out *o, struct wv_tenant *tenant, int peer,
			 struct wv_end_watch *watch)
{
	struct wv_holder *holder = NULL;

	if (find_or_make(o, tenant, peer, &holder) || !holder)
		return false;
	if (!holder->pid) {
		free_holder(holder);
		return false;
	}
	LIST_INSERT_HEAD(&holder->watches, watch, link);
	watch->holder = holder;
	return true;
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
