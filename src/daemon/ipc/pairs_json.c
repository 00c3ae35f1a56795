/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/pairs_json.h"

#include "base/base.h"
#include "daemon/ipc/json_number.h"
#include "daemon/pairs/keepers.h"
#include "daemon/pairs/pair_table.h"

struct reason {
	enum wv_pair_why why;
	const char *name; /* NULL after the last */
};

static const struct reason of_unlike[] = {
    {WV_PAIR_NO_REASON, "unknown"},	{WV_PAIR_ENDED, "ended"},
    {WV_PAIR_OTHER_PEER, "other_peer"}, {WV_PAIR_ATTRIBUTES, "attributes"},
    {WV_PAIR_MOVED, "moved"},		{},
};

static const struct reason of_refused[] = {
    {WV_PAIR_NO_SPARE, "no_spare"},
    {WV_PAIR_UNKNOWN, "unknown"},
    {WV_PAIR_ATTRIBUTES, "attributes"},
    {WV_PAIR_KERNEL, "kernel"},
    {},
};

static json_t *by_reason(const struct reason *reasons, const uint64_t counts[WV_PAIR_WHYS])
{
	json_t *json = json_object();

	for (; reasons->name; reasons++)
		json_object_set_new(json, reasons->name, wv_json_number(counts[reasons->why]));
	return json;
}

static uint64_t count(const struct wv_pairs *p, enum wv_pair_state state)
{
	const struct wv_pair *pair;
	uint64_t n = 0;

	LIST_FOREACH (pair, &p->all, link)
		n += pair->state == state;
	return n;
}

json_t *wv_pairs_json(const struct wv_service *s)
{
	const struct wv_pairs *p = s->pairs;

	if (!p)
		return json_null();
	return json_pack(
	    "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ready",
	    wv_json_number(count(p, WV_PAIR_READY)), "handed_out",
	    wv_json_number(count(p, WV_PAIR_HANDED_OUT) + count(p, WV_PAIR_LEFT)), "edges",
	    wv_json_number(p->edges.n), "servers", wv_json_number(s->keepers->n), "made",
	    wv_json_number(p->tally.made), "used", wv_json_number(p->tally.used), "idle",
	    wv_json_number(p->tally.idle), "refused", by_reason(of_refused, p->tally.refused),
	    "lost", wv_json_number(p->tally.lost), "unlike", by_reason(of_unlike, p->tally.unlike));
}
