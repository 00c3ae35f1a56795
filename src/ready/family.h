/*
 * Memory that a process shares with its children: tickets, by which sets are offered, and the
 * scripts that children have taught. Children are trusted with it as with the rest of the process
 * that they are copies of, but may end at any moment.
 */
#pragma once

#include "ready/verb.h"

#include <pthread.h>

#define WV_FAMILY_TICKETS 256
#define WV_FAMILY_SCRIPTS 8
#define WV_FAMILY_MISSES  3 /* children in a row that a script did not fit */

enum wv_phase {
	WV_TICKET_FREE,
	WV_TICKET_OFFERED,    /* to a child that may not have run yet */
	WV_TICKET_HELD,	      /* the child has come, and has not used it */
	WV_TICKET_CLAIMED,    /* the set is the child's */
	WV_TICKET_GIVEN_BACK, /* the child has let go of it, unused */
	WV_TICKET_LEFT,	      /* the parent has taken it back: free when nobody holds it */
};

/*
 * @state is a generation and a phase: who acts on an old generation changes nothing. @holder is a
 * robust mutex that the child holds while it has the set unused: it tells of its end, by whatever
 * way, exec(2) among them (pthread_mutexattr_setrobust(3)).
 */
struct wv_ticket {
	pthread_mutex_t holder;
	uint64_t state;
	int32_t child; /* pid, or 0: not known; the parent's to use */
};

enum wv_publishing { WV_SCRIPT_EMPTY, WV_SCRIPT_WRITING, WV_SCRIPT_THERE };

struct wv_published {
	uint32_t phase;	 /* enum wv_publishing */
	uint32_t misses; /* children in a row that it did not fit */
	struct wv_script script;
};

struct wv_family {
	struct wv_ticket tickets[WV_FAMILY_TICKETS];
	struct wv_published scripts[WV_FAMILY_SCRIPTS];
};

/* Shared with children from now on, until the process ends. NULL: no memory. */
struct wv_family *wv_family_new(void);

static inline enum wv_phase wv_ticket_phase(uint64_t state)
{
	return (enum wv_phase)(state & 0xff);
}

/* A free ticket in phase OFFERED, or NULL. *@state: what the child is to be given with it. */
struct wv_ticket *wv_ticket_issue(struct wv_family *family, uint64_t *state);

/* From @state to another phase of its generation. False: somebody was quicker. */
bool wv_ticket_turn(struct wv_ticket *ticket, uint64_t *state, enum wv_phase phase);

/* The child's side: takes hold of what it was offered. False: it is not offered any more. */
bool wv_ticket_hold(struct wv_ticket *ticket, uint64_t *state);

/* The holder moves on to @phase and lets go. False: it was revoked; let go of all the same. */
bool wv_ticket_leave(struct wv_ticket *ticket, uint64_t *state, enum wv_phase phase);

/* Tickets that nobody holds any more are free again. */
void wv_tickets_collect(struct wv_family *family);

/* The parent's side: whether nobody holds it, or whoever did has ended. */
bool wv_ticket_is_left(const struct wv_ticket *ticket);

/* Whether @open, the first verb of a script, is taught already. */
bool wv_family_knows(struct wv_family *family, const struct wv_verb *open);

/*
 * Teaches a script; with @instead, in the place of another that begins alike. False: there is one
 * that begins alike, or no room.
 */
bool wv_family_publish(struct wv_family *family, const struct wv_script *script, bool instead);

/* Whether there is a script at all. */
bool wv_family_is_taught(const struct wv_family *family);

/* A child of the script that begins with @open has found it fitting, or not. */
void wv_family_judge(struct wv_family *family, const struct wv_verb *open, bool fits);
