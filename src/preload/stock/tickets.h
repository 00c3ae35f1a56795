/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spares there are, in memory that a process shares with its children as long as they have
 * its ufile. The process may make spares there of which its children know nothing. But a completion
 * queue that a spare uses cannot be destroyed, so a child that destroys one finds the spares here,
 * and destroys them first.
 *
 * A spare has a ticket before it is made. Who redeems it first may use or destroy the spare. What a
 * child writes can make its parent lose spares, and wait for a moment; nothing else.
 */
#pragma once

#include "preload/stock/shape.h"

#include <stdbool.h>
#include <stdint.h>

/* Of one context. */
struct wv_tickets;
struct wv_ticket_place;

struct wv_ticket {
	struct wv_ticket_place *place; /* NULL: redeemed */
	uint32_t value;
};

/*
 * The tickets of a context that this process has opened: makes them if there are none. NULL: there
 * is no memory, a parent has opened the context, or the library does not see it. Then the context
 * must have no spares. Takes the lock of the control path.
 */
struct wv_tickets *wv_tickets_make(const struct ibv_context *context);

/*
 * The tickets of a context that a parent of this process has opened, and may make spares for, by
 * its command descriptor; NULL: it is not such a context. Takes the lock of the control path, but
 * not in a child that has not taken the library's state over (core/process.h).
 */
struct wv_tickets *wv_tickets_of_parent(int fd);

/* In memory that children share. NULL: there is none. */
struct wv_tickets *wv_tickets_new(void);
void wv_tickets_free(struct wv_tickets *tickets);

/* Before a fork, with the lock of the control path: all open contexts have tickets. */
void wv_tickets_share(void);

/* The program closes @context, which has no spares. Takes the lock of the control path. */
void wv_tickets_leave(const struct ibv_context *context);

/* The last command descriptor of @c was closed. Call with the lock of the control path. */
struct wv_context;
void wv_tickets_lose(struct wv_context *c);

/* Whether any context had tickets, in this process or in a parent. */
bool wv_tickets_any(void);

/*
 * In a child that has not taken the library's state over, which opens a device: the descriptor may
 * have the number of one that the child has closed, so the child has no tickets from then on.
 */
void wv_tickets_forget(void);

/* A ticket for a queue pair of @key that is about to be made. False: there are too many. */
bool wv_ticket_begin(struct wv_tickets *tickets, const struct wv_qp_key *key,
		     struct wv_ticket *ticket);

/* It was made, with this handle. Otherwise call wv_ticket_end(). */
void wv_ticket_made(const struct wv_ticket *ticket, uint32_t handle);

/* False: another process has redeemed the ticket. */
bool wv_ticket_is_good(const struct wv_ticket *ticket);
bool wv_ticket_redeem(struct wv_ticket *ticket);

/*
 * The number of the queue pair means something to others from now on: the ticket is redeemed only
 * for an object that is destroyed, and not to make room. False: another process has redeemed it.
 */
bool wv_ticket_keep(struct wv_ticket *ticket);

/*
 * Redeems the ticket of a spare that is destroyed until wv_ticket_end(). What another process makes
 * or destroys at this moment is waited for, but no longer than *@patience_ms (NULL: not at all),
 * which becomes less: that process may have been killed, or mean harm. False: another process has
 * redeemed the ticket.
 */
#define WV_TICKET_PATIENCE_MS 1000 /* for all spares that use an object */
bool wv_ticket_begin_end(struct wv_ticket *ticket, unsigned int *patience_ms);
void wv_ticket_end(struct wv_ticket *ticket);

/* The spare could not be destroyed: the ticket is good again. */
void wv_ticket_put_back(struct wv_ticket *ticket);

/*
 * The same for a queue pair that uses @object (NULL: that makes room): its ticket, and its handle.
 * False: there is none.
 */
bool wv_ticket_begin_end_of(struct wv_tickets *tickets, const void *object,
			    unsigned int *patience_ms, struct wv_ticket *ticket, uint32_t *handle);
