/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/spares/pair_end.h"

#include "base/base.h"

static struct wv_pair_end ends[WV_PAIR_ENDS] WV_COLD(1);
static unsigned int n_used;
static unsigned int n_places; /* that were used at some time; behind them all are free */

#define each_end(end)                                                                              \
	for (struct wv_pair_end *end = ends; end < ends + n_places; end++)                         \
		if (end->state != WV_END_FREE)

static struct wv_pair_end *unused(void)
{
	for (struct wv_pair_end *end = ends; end < ends + n_places; end++)
		if (end->state == WV_END_FREE)
			return end;
	return n_places < WV_PAIR_ENDS ? &ends[n_places] : NULL;
}

static unsigned int count(enum wv_end_state state)
{
	unsigned int n = 0;

	each_end(end) n += end->state == state;
	return n;
}

bool wv_pair_end_has_room(void)
{
	return unused() && count(WV_END_LOST) < WV_PAIR_ENDS_LOST;
}

void wv_pair_end_add(const struct wv_pair_end *end)
{
	struct wv_pair_end *place = unused();

	if (place == &ends[n_places])
		n_places++;
	*place = *end;
	__atomic_store_n(&n_used, n_used + 1, __ATOMIC_RELAXED);
}

void wv_pair_end_free(struct wv_pair_end *end)
{
	end->state = WV_END_FREE;
	__atomic_store_n(&n_used, n_used - 1, __ATOMIC_RELAXED);
}

struct wv_pair_end *wv_pair_end_at(unsigned int i)
{
	return i < n_places ? &ends[i] : NULL;
}

struct wv_pair_end *wv_pair_end_find(uint64_t pair)
{
	if (pair)
		each_end(end) if (end->note.pair == pair) return end;
	return NULL;
}

struct wv_pair_end *wv_pair_end_of(const struct ibv_qp *qp)
{
	each_end(end) if (end->spare.qp == qp &&
			  (end->state == WV_END_TAKEN || end->state == WV_END_PARTED)) return end;
	return NULL;
}

/* A claimed end whose client is that of @request. */
static struct wv_pair_end *requested(const struct wv_request *request)
{
	each_end(end) if (end->state == WV_END_CLAIMED && end->made.by_request &&
			  end->note.peer_qp_num == request->qp_num &&
			  !memcmp(end->note.peer_gid, request->gid, sizeof(request->gid)))
	{
		return end;
	}
	return NULL;
}

/* The claimed end of which no request will tell, if it is the only one. */
static struct wv_pair_end *only_one(void)
{
	struct wv_pair_end *only = NULL;

	each_end(end) if (end->state == WV_END_CLAIMED && !end->made.by_request)
	{
		if (only)
			return NULL;
		only = end;
	}
	return only;
}

struct wv_pair_end *wv_pair_end_named(const struct wv_qp_key *key, const struct wv_request *request)
{
	struct wv_pair_end *end = request->qp_num ? requested(request) : only_one();

	return end && !memcmp(&end->key, key, sizeof(*key)) ? end : NULL;
}

struct wv_pair_end *wv_pair_end_in(uint32_t states, const void *object)
{
	each_end(end) if (states & WV_END_BIT(end->state) &&
			  (!object || wv_qp_key_uses(&end->key, object))) return end;
	return NULL;
}

bool wv_pair_end_any(void)
{
	return __atomic_load_n(&n_used, __ATOMIC_RELAXED);
}

void wv_pair_ends_lost(bool left)
{
	each_end(end)
	{
		end->note.pair = 0;
		end->gone = end->gone || left;
		if (end->state != WV_END_TAKEN && end->state != WV_END_PARTED)
			end->state = WV_END_LOST;
	}
}

void wv_pair_ends_forked(void)
{
	each_end(end)
	{
		if (end->state == WV_END_TAKEN || end->state == WV_END_PARTED)
			end->note.pair = 0;
		else
			wv_pair_end_free(end);
	}
}
