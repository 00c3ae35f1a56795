/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/peers_text.h"

#include "base/base.h"
#include "cli/fields.h"

#define SEEN_BY_ALL 4 /* columns; the others are for root */

static const struct wv_json_column columns[] = {
    {"node", WV_CELL_TEXT, "node", NULL},
    {"address", WV_CELL_TEXT, "address", NULL},
    {"state", WV_CELL_TEXT, "state", NULL},
    {"latency", WV_CELL_US, "round_trip_us", NULL},
    {"edges", WV_CELL_NUMBER, "counters.edges", NULL},
    {"pairs", WV_CELL_NUMBER, "counters.pairs", NULL},
    {"hits", WV_CELL_NUMBER, "counters.hits", NULL},
    {"mismatches", WV_CELL_NUMBER, "counters.mismatches", NULL},
};

static void print_mismatches(json_t *peer, FILE *out)
{
	const char *separator = ": mismatches: ";
	const char *reason;
	json_t *n;

	if (!wv_json_number_at(peer, "counters.mismatches"))
		return;
	fputs(json_string_value(json_object_get(peer, "node")) ?: "?", out);
	json_object_foreach(wv_json_at(peer, "counters.reasons"), reason, n)
	{
		if (!json_integer_value(n))
			continue;
		fprintf(out, "%s%lld %s", separator, (long long)json_integer_value(n), reason);
		separator = ", ";
	}
	fputc('\n', out);
}

static void print_remarks(json_t *peer, FILE *out)
{
	const char *why = json_string_value(json_object_get(peer, "why"));

	if (why)
		fprintf(out, "%s: %s: %s\n",
			json_string_value(json_object_get(peer, "node")) ?: "?",
			json_string_value(json_object_get(peer, "state")) ?: "?", why);
	print_mismatches(peer, out);
}

int wv_print_peers(json_t *document, FILE *out)
{
	json_t *peers = json_object_get(document, "peers");
	json_t *first = json_array_get(peers, 0);
	const char *error = json_string_value(json_object_get(document, "credentials"));
	bool counted = json_is_object(json_object_get(first, "counters"));
	json_t *peer;
	size_t i;
	int err;

	if (!json_is_true(json_object_get(document, "on"))) {
		fputs("no peers: the option peers of warmverbsd.conf(5) names them\n", out);
		return 0;
	}
	if (error)
		fprintf(out, "credentials: %s\n", error);
	err = wv_print_objects(peers, columns, counted ? WV_ARRAY_SIZE(columns) : SEEN_BY_ALL,
			       "no peers yet", out);
	json_array_foreach (peers, i, peer)
		print_remarks(peer, out);
	return err;
}
