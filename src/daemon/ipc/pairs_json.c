/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/pairs_json.h"

#include "base/base.h"
#include "daemon/ipc/json_number.h"

static const struct {
	enum wv_pair_why why;
	const char *name;
} reasons[] = {
    {WV_PAIR_NO_REASON, "unknown"},	{WV_PAIR_ENDED, "ended"},
    {WV_PAIR_OTHER_PEER, "other_peer"}, {WV_PAIR_ATTRIBUTES, "attributes"},
    {WV_PAIR_MOVED, "moved"},
};

static json_t *unlike(const struct wv_pairs_tally *tally)
{
	json_t *json = json_object();

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(reasons); i++)
		json_object_set_new(json, reasons[i].name,
				    wv_json_number(tally->unlike[reasons[i].why]));
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
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "ready",
			 wv_json_number(count(p, WV_PAIR_READY)), "handed_out",
			 wv_json_number(count(p, WV_PAIR_HANDED_OUT) + count(p, WV_PAIR_LEFT)),
			 "edges", wv_json_number(p->edges.n), "servers",
			 wv_json_number(s->keepers->n), "made", wv_json_number(p->tally.made),
			 "used", wv_json_number(p->tally.used), "idle",
			 wv_json_number(p->tally.idle), "refused", wv_json_number(p->tally.refused),
			 "lost", wv_json_number(p->tally.lost), "unlike", unlike(&p->tally));
}
