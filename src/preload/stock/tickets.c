/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/stock/tickets.h"

#include "preload/core/context.h"
#include "preload/core/process.h"
#include "preload/core/settings.h"

#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#define PLACES 512

/* A value is a step, and a multiple of STEPS that each ticket has for itself. */
enum { FREE, TAKEN, MAKING, GOOD, ENDING, STEPS = 8 };

struct wv_ticket_place {
	uint32_t value;
	uint32_t handle;
	bool is_kept;
	/* By their addresses, which are the same in children: */
	const struct ibv_pd *pd;
	const struct ibv_cq *send_cq, *recv_cq;
	const struct ibv_srq *srq;
};

struct wv_tickets {
	struct wv_ticket_place places[PLACES];
};

/* Of a context that children have without tickets. */
#define NO_TICKETS ((struct wv_tickets *)MAP_FAILED)

static bool any;

struct wv_tickets *wv_tickets_new(void)
{
	void *at = mmap(NULL, sizeof(struct wv_tickets), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void wv_tickets_free(struct wv_tickets *tickets)
{
	if (tickets && tickets != NO_TICKETS)
		munmap(tickets, sizeof(*tickets));
}

static void give_tickets(struct wv_context *c)
{
	if (c->tickets)
		return;
	c->tickets = wv_tickets_new();
	__atomic_store_n(&any, true, __ATOMIC_RELAXED);
}

struct wv_tickets *wv_tickets_make(const struct ibv_context *context)
{
	struct wv_tickets *tickets = NULL;
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(context->cmd_fd);
	if (c && !wv_context_is_inherited(c)) {
		give_tickets(c);
		tickets = c->tickets;
		c->uses_tickets = true;
	}
	wv_unlock();
	return tickets == NO_TICKETS ? NULL : tickets;
}

/*
 * A child that has not taken the library's state over has all of it from its parent. A thread that
 * the child does not have may hold the lock.
 */
struct wv_tickets *wv_tickets_of_parent(int fd)
{
	bool adopted = wv_process_is_adopted();
	struct wv_tickets *tickets = NULL;
	const struct wv_context *c;

	if (adopted)
		wv_lock();
	c = wv_context_of(fd);
	if (c && (wv_context_is_inherited(c) || !adopted))
		tickets = c->tickets;
	if (adopted)
		wv_unlock();
	return tickets == NO_TICKETS ? NULL : tickets;
}

/* For a child, which makes what tickets are for. */
static bool is_made_ahead(const struct wv_context *c)
{
	return c->owner && !wv_context_is_inherited(c);
}

void wv_tickets_share(void)
{
	if (!wv_settings()->spares)
		return;
	wv_each_context(c)
	{
		if (!c->files || c->mode == WV_ABANDONED || is_made_ahead(c))
			continue;
		give_tickets(c);
		if (!c->tickets)
			c->tickets = NO_TICKETS;
	}
}

/* A child made meanwhile by _Fork() finds none. */
static void drop(struct wv_context *c)
{
	struct wv_tickets *tickets = c->tickets;

	__atomic_store_n(&c->tickets, NULL, __ATOMIC_RELEASE);
	wv_tickets_free(tickets);
}

void wv_tickets_leave(const struct ibv_context *context)
{
	struct wv_context *c;

	wv_lock();
	c = wv_context_of(context->cmd_fd);
	if (c)
		drop(c);
	wv_unlock();
}

/*
 * A child that has no ufile any more must not reach its parent's tickets. In the process that has
 * spares, the maker may be about to use them, if the program did not close the context as such.
 */
void wv_tickets_lose(struct wv_context *c)
{
	if (c->uses_tickets && !wv_context_is_inherited(c))
		c->tickets = NULL;
	else
		drop(c);
}

bool wv_tickets_any(void)
{
	return __atomic_load_n(&any, __ATOMIC_RELAXED);
}

void wv_tickets_forget(void)
{
	__atomic_store_n(&any, false, __ATOMIC_RELAXED);
}

static uint32_t load(const struct wv_ticket_place *place)
{
	return __atomic_load_n(&place->value, __ATOMIC_ACQUIRE);
}

/* Changes the step of the ticket @value. False: it is at another one than @from. */
static bool step(struct wv_ticket_place *place, uint32_t value, uint32_t from, uint32_t to)
{
	uint32_t expected = value + from;

	return __atomic_compare_exchange_n(&place->value, &expected, value + to, false,
					   __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void set_kept(struct wv_ticket_place *place, bool is)
{
	__atomic_store_n(&place->is_kept, is, __ATOMIC_RELAXED);
}

static void fill_in(struct wv_ticket_place *place, const struct wv_qp_key *key)
{
	set_kept(place, false);
	__atomic_store_n(&place->pd, key->pd, __ATOMIC_RELAXED);
	__atomic_store_n(&place->send_cq, key->send_cq, __ATOMIC_RELAXED);
	__atomic_store_n(&place->recv_cq, key->recv_cq, __ATOMIC_RELAXED);
	__atomic_store_n(&place->srq, key->srq, __ATOMIC_RELAXED);
}

static bool is_for(const struct wv_ticket_place *place, const void *object)
{
	if (!object)
		return !__atomic_load_n(&place->is_kept, __ATOMIC_RELAXED);
	return object == __atomic_load_n(&place->pd, __ATOMIC_RELAXED) ||
	       object == __atomic_load_n(&place->send_cq, __ATOMIC_RELAXED) ||
	       object == __atomic_load_n(&place->recv_cq, __ATOMIC_RELAXED) ||
	       object == __atomic_load_n(&place->srq, __ATOMIC_RELAXED);
}

bool wv_ticket_begin(struct wv_tickets *tickets, const struct wv_qp_key *key,
		     struct wv_ticket *ticket)
{
	for (struct wv_ticket_place *p = tickets->places; p < tickets->places + PLACES; p++) {
		uint32_t value = load(p);

		if (value % STEPS != FREE || !step(p, value, FREE, TAKEN))
			continue;
		fill_in(p, key);
		step(p, value, TAKEN, MAKING);
		*ticket = (struct wv_ticket){p, value};
		return true;
	}
	return false;
}

void wv_ticket_made(const struct wv_ticket *ticket, uint32_t handle)
{
	__atomic_store_n(&ticket->place->handle, handle, __ATOMIC_RELAXED);
	step(ticket->place, ticket->value, MAKING, GOOD);
}

bool wv_ticket_is_good(const struct wv_ticket *ticket)
{
	return !ticket->place || load(ticket->place) == ticket->value + GOOD;
}

static bool redeem(const struct wv_ticket *ticket, uint32_t to)
{
	return !ticket->place || step(ticket->place, ticket->value, GOOD, to);
}

bool wv_ticket_redeem(struct wv_ticket *ticket)
{
	if (!redeem(ticket, STEPS))
		return false;
	ticket->place = NULL;
	return true;
}

/* By another value: a process that has read the old one does not redeem the ticket. */
bool wv_ticket_keep(struct wv_ticket *ticket)
{
	if (!ticket->place || !redeem(ticket, STEPS + TAKEN))
		return !ticket->place;
	ticket->value += STEPS;
	set_kept(ticket->place, true);
	return step(ticket->place, ticket->value, TAKEN, GOOD);
}

/* Waits until the ticket @value is at another step than @at. False: for too long. */
static bool await(const struct wv_ticket_place *place, uint32_t value, uint32_t at,
		  unsigned int *patience_ms)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	while (load(place) == value + at) {
		if (!patience_ms || !*patience_ms)
			return false;
		nanosleep(&pause, NULL);
		--*patience_ms;
	}
	return true;
}

bool wv_ticket_begin_end(struct wv_ticket *ticket, unsigned int *patience_ms)
{
	if (redeem(ticket, ENDING))
		return true;
	await(ticket->place, ticket->value, ENDING, patience_ms);
	return false;
}

void wv_ticket_end(struct wv_ticket *ticket)
{
	struct wv_ticket_place *place = ticket->place;

	if (place && !step(place, ticket->value, ENDING, STEPS))
		step(place, ticket->value, MAKING, STEPS);
	ticket->place = NULL;
}

void wv_ticket_put_back(struct wv_ticket *ticket)
{
	step(ticket->place, ticket->value, ENDING, GOOD);
	ticket->place = NULL;
}

static bool begin_end_of(struct wv_ticket_place *p, const void *object, unsigned int *patience_ms,
			 struct wv_ticket *ticket)
{
	uint32_t now, at;

	do {
		now = load(p);
		at = now % STEPS;
		if (at == FREE || (at != TAKEN && !is_for(p, object)))
			return false;
		*ticket = (struct wv_ticket){p, now - at};
		if (at == GOOD && redeem(ticket, ENDING))
			return true;
	} while (await(p, now - at, at, patience_ms));
	return false;
}

bool wv_ticket_begin_end_of(struct wv_tickets *tickets, const void *object,
			    unsigned int *patience_ms, struct wv_ticket *ticket, uint32_t *handle)
{
	for (struct wv_ticket_place *p = tickets->places; p < tickets->places + PLACES; p++)
		if (begin_end_of(p, object, patience_ms, ticket)) {
			*handle = __atomic_load_n(&p->handle, __ATOMIC_RELAXED);
			return true;
		}
	return false;
}
