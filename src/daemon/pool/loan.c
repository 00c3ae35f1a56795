/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/loan.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/memory_file.h"

#include <errno.h>

#define ASKERS	      4
#define FIRST_WAIT_US INT64_C(50000) /* those who end together are asked about together */
#define LAST_WAIT_US  INT64_C(60000000)

/* A tenant that has memory. */
struct wv_borrower {
	struct wv_work work; /* first */
	LIST_ENTRY(wv_borrower) link;
	struct wv_lender *lender;
	const struct wv_tenant *tenant;
	unsigned int n_loans;
	struct wv_loans left;  /* their processes have ended */
	struct wv_loans asked; /* the worker's, while it is asked about them */
	bool asking;
	sd_event_source *timer;
	int64_t wait_us; /* before the next question */
};

static void put_borrower(struct wv_borrower *b)
{
	if (!b || --b->n_loans)
		return;
	LIST_REMOVE(b, link);
	sd_event_source_disable_unref(b->timer);
	free(b);
}

void wv_lender_charge_fd(struct wv_lender *lender, struct wv_tenant *tenant, int n)
{
	lender->n_fds += (uint32_t)n;
	tenant->n_watching += (uint32_t)n;
}

bool wv_lender_has_fd(const struct wv_lender *lender, const struct wv_tenant *tenant)
{
	uint32_t own = tenant->n_watching;

	return own < wv_share_limit(lender->max_fds, lender->n_fds - own);
}

void wv_loan_end(struct wv_loan *loan)
{
	struct wv_tenant *tenant = loan->tenant;

	wv_use_subtract(&tenant->out, &loan->cost);
	wv_use_subtract(&loan->lender->use, &loan->cost);
	if (loan->borrower)
		wv_lender_charge_fd(loan->lender, tenant, -1);
	wv_close_fd(&loan->memory);
	put_borrower(loan->borrower);
	wv_tenant_put(tenant);
	free(loan);
}

/* Runs in a worker. */
static void ask(struct wv_work *work)
{
	struct wv_borrower *b = (struct wv_borrower *)work;
	struct wv_loan *loan;

	SLIST_FOREACH (loan, &b->asked, link)
		loan->ended = !atomic_load(&b->lender->stopping) && wv_memory_reclaim(loan->memory);
}

static struct wv_loan *take(struct wv_loans *loans)
{
	struct wv_loan *loan = SLIST_FIRST(loans);

	if (loan)
		SLIST_REMOVE_HEAD(loans, link);
	return loan;
}

static void await_question(struct wv_borrower *b)
{
	wv_timer_arm(b->timer, wv_now(b->lender->event) + b->wait_us);
	b->wait_us = b->wait_us < LAST_WAIT_US / 2 ? b->wait_us * 2 : LAST_WAIT_US;
}

static void answered(struct wv_work *work)
{
	struct wv_borrower *b = (struct wv_borrower *)work;
	struct wv_loan *loan;

	b->asking = false;
	b->n_loans++; /* it stays until all are looked at */
	while ((loan = take(&b->asked))) {
		if (loan->ended)
			wv_loan_end(loan);
		else
			SLIST_INSERT_HEAD(&b->left, loan, link);
	}
	if (!SLIST_EMPTY(&b->left))
		await_question(b);
	put_borrower(b);
}

static int on_time(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_borrower *b = data;

	(void)source;
	(void)now;
	b->asking = true;
	b->asked = b->left;
	SLIST_INIT(&b->left);
	wv_line_give(b->lender->line, &b->work);
	return 0;
}

int wv_lender_start(struct wv_lender *lender)
{
	const struct wv_line_options options = {
	    .own = 1,
	    .most = ASKERS,
	    .priority = WV_PRIORITY_RESULTS,
	};

	return wv_line_open(lender->workers, &options, &lender->line);
}

static void forget(struct wv_borrower *b)
{
	struct wv_loan *loan;

	b->n_loans++;
	while ((loan = take(&b->left)))
		wv_loan_end(loan);
	put_borrower(b);
}

void wv_lender_stop(struct wv_lender *lender)
{
	struct wv_borrower *b;

	atomic_store(&lender->stopping, true);
	wv_line_close(&lender->line, INT64_MAX);
	while ((b = LIST_FIRST(&lender->borrowers)))
		forget(b);
}

static int make_borrower(struct wv_lender *lender, const struct wv_tenant *tenant,
			 struct wv_borrower **borrower)
{
	struct wv_borrower *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	*b = (struct wv_borrower){
	    .work = {.run = ask, .done = answered},
	    .lender = lender,
	    .tenant = tenant,
	};
	err = wv_timer_add(lender->event, WV_PRIORITY_TIMERS, 0, on_time, b, &b->timer);
	if (err) {
		sd_event_source_disable_unref(b->timer);
		free(b);
		return err;
	}
	LIST_INSERT_HEAD(&lender->borrowers, b, link);
	*borrower = b;
	return 0;
}

static int find_borrower(struct wv_lender *lender, const struct wv_tenant *tenant,
			 struct wv_borrower **borrower)
{
	LIST_FOREACH (*borrower, &lender->borrowers, link)
		if ((*borrower)->tenant == tenant)
			return 0;
	return make_borrower(lender, tenant, borrower);
}

static int watch_memory(struct wv_loan *loan, int memory)
{
	int err;

	if (!wv_lender_has_fd(loan->lender, loan->tenant))
		return -EDQUOT;
	loan->memory = wv_memory_open(memory);
	if (loan->memory < 0)
		return loan->memory;
	err = find_borrower(loan->lender, loan->tenant, &loan->borrower);
	if (err) {
		close(loan->memory);
		return err;
	}
	loan->borrower->n_loans++;
	wv_lender_charge_fd(loan->lender, loan->tenant, 1);
	return 0;
}

static bool has_share(const struct wv_lender *lender, const struct wv_tenant *tenant,
		      const struct wv_cost *cost)
{
	uint64_t limit = wv_share_limit(lender->max_bytes, lender->use.bytes - tenant->out.bytes);

	return cost->bytes <= limit && tenant->out.bytes <= limit - cost->bytes;
}

int wv_loan_make(struct wv_lender *lender, struct wv_tenant *tenant, const struct wv_cost *cost,
		 int memory, struct wv_loan **loan)
{
	struct wv_loan *l;
	int err;

	if (!has_share(lender, tenant, cost))
		return -EDQUOT;
	l = malloc(sizeof(*l));
	if (!l)
		return -ENOMEM;
	*l = (struct wv_loan){.lender = lender, .tenant = tenant, .cost = *cost, .memory = -1};
	err = memory < 0 ? 0 : watch_memory(l, memory);
	if (err) {
		free(l);
		return err;
	}
	wv_tenant_keep(tenant);
	wv_use_add(&tenant->out, cost);
	wv_use_add(&lender->use, cost);
	*loan = l;
	return 0;
}

static void leave(struct wv_loan *loan)
{
	struct wv_borrower *b = loan->borrower;

	if (!b) {
		wv_loan_end(loan);
		return;
	}
	SLIST_INSERT_HEAD(&b->left, loan, link);
	b->wait_us = FIRST_WAIT_US;
	if (!b->asking)
		await_question(b);
}

void wv_loans_leave(struct wv_loans *loans)
{
	struct wv_loan *loan;

	while ((loan = take(loans)))
		leave(loan);
}
