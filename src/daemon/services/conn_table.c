/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/services/conn_table.h"

#include "base/base.h"
#include "base/random.h"

#define FIRST_FEW 64

/* A number is a slot and a count. */
static unsigned int slot_of(uint64_t number)
{
	return number & (WV_CONNS_MOST - 1);
}

static bool grow(struct wv_conn_table *t)
{
	unsigned int n = t->n_slots ? 2 * t->n_slots : FIRST_FEW;
	struct wv_service_conn **slots =
	    n <= WV_CONNS_MOST ? reallocarray(t->slots, n, sizeof(*slots)) : NULL;

	if (!slots)
		return false;
	memset(slots + t->n_slots, 0, (n - t->n_slots) * sizeof(*slots));
	t->slots = slots;
	t->next = t->n_slots;
	t->n_slots = n;
	return true;
}

struct wv_service_conn *wv_conn_add(struct wv_conn_table *t)
{
	struct wv_service_conn *conn;

	if (t->n == t->n_slots && !grow(t))
		return NULL;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	while (t->slots[t->next])
		t->next = (t->next + 1) % t->n_slots;
	if (!t->count)
		t->count = (uint32_t)wv_random_number() | 1;
	conn->number = ++t->count << WV_CONN_SLOT_BITS | t->next;
	t->slots[t->next] = conn;
	t->next = (t->next + 1) % t->n_slots;
	t->n++;
	return conn;
}

struct wv_service_conn *wv_conn_find(const struct wv_conn_table *t, uint64_t number)
{
	unsigned int slot = slot_of(number);
	struct wv_service_conn *conn = slot < t->n_slots ? t->slots[slot] : NULL;

	return conn && conn->number == number ? conn : NULL;
}

void wv_conn_free(struct wv_conn_table *t, struct wv_service_conn *conn)
{
	t->slots[slot_of(conn->number)] = NULL;
	t->n--;
	free(conn->ask);
	free(conn);
}
