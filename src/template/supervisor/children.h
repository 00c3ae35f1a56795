/* SPDX-License-Identifier: BSD-2-Clause */
/* The children of the template that wait for a start. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define WV_READY_MOST 1024

struct wv_children {
	struct wv_waiting {
		pid_t pid;
		uint64_t since_ms; /* it was made */
	} waiting[WV_READY_MOST];  /* the oldest first */
	uint32_t n;
	uint32_t n_missing; /* of those that the template makes now */
	uint32_t n_unasked; /* that have ended without a start, one after the other */
	bool is_making;	    /* the template, at present */
};

/*
 * How many are to wait where @wanted are, but no more than @most, and there are @n_starts, each of
 * which takes a descriptor of this process.
 */
uint32_t wv_children_target(uint32_t wanted, uint32_t most, uint32_t n_starts);

/*
 * Whether no more are made yet where @target are to wait: who makes them is a process of its own,
 * and costs, so that half of them are made at a time.
 */
bool wv_children_suffice(const struct wv_children *c, uint32_t target);

/* Has the template make children, so that there are @target, unless it makes some already. */
void wv_children_order(struct wv_children *c, int control, uint32_t target);

/* The template has made one; and it makes no more. */
void wv_children_add(struct wv_children *c, pid_t pid);
void wv_children_are_made(struct wv_children *c);

/* One has become a start. False if it is no child at all. */
bool wv_children_start(struct wv_children *c, pid_t pid);

/*
 * One has ended, if it was one that waits, with this status of waitpid(2): killed for want of
 * memory, or by itself, as the next ones would. Returns true if so many have that it is of no use
 * to make more.
 */
bool wv_children_end(struct wv_children *c, pid_t pid, int status);
