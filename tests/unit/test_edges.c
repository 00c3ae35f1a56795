/* SPDX-License-Identifier: BSD-2-Clause */
/* Edges: whose place a further one takes. */
#include "daemon/pairs/edges.h"
#include "fixture.h"

#define UID_OF_MANY 1000
#define UID_OF_ONE  1001

static struct wv_edges edges;

static struct wv_edge *note(uid_t uid, uint64_t recipe)
{
	const struct wv_qp_peer peer = {.qp_num = 7};
	wv_auto_free struct wv_cmdlog *moves = moves_of(2, &peer);
	struct wv_edge_report report = {.recipe = recipe, .uid = uid};

	return wv_edges_note(&edges, &report, moves, 1);
}

static unsigned int edges_of(uid_t uid)
{
	const struct wv_edge *edge;
	unsigned int n = 0;

	TAILQ_FOREACH (edge, &edges.all, link)
		n += edge->last.uid == uid;
	return n;
}

/* However many a user has, and however old those of another are. */
static void test_the_user_with_most_gives_way(void **state)
{
	(void)state;
	wv_edges_init(&edges);
	note(UID_OF_ONE, 1);
	for (uint64_t recipe = 2; recipe < 2 * WV_EDGES_MOST; recipe++)
		assert_non_null(note(UID_OF_MANY, recipe));
	assert_int_equal(edges.n, WV_EDGES_MOST);
	assert_int_equal(edges_of(UID_OF_ONE), 1);
	wv_edges_finish(&edges);
}

/* Recipes of two users may have one id. */
static void test_users_share_no_edge(void **state)
{
	(void)state;
	wv_edges_init(&edges);
	assert_ptr_not_equal(note(UID_OF_ONE, 1), note(UID_OF_MANY, 1));
	assert_int_equal(edges_of(UID_OF_ONE), 1);
	assert_int_equal(edges_of(UID_OF_MANY), 1);
	wv_edges_finish(&edges);
}

/* Those with pairs stay. */
static void test_none_gives_way(void **state)
{
	struct wv_edge *edge;

	(void)state;
	wv_edges_init(&edges);
	for (uint64_t recipe = 1; recipe <= WV_EDGES_MOST; recipe++)
		note(UID_OF_MANY, recipe)->n_pairs = 1;
	assert_null(note(UID_OF_ONE, WV_EDGES_MOST + 1));
	edge = TAILQ_LAST(&edges.all, wv_edge_list);
	edge->n_pairs = 0;
	assert_non_null(note(UID_OF_ONE, WV_EDGES_MOST + 1));
	assert_int_equal(edges_of(UID_OF_MANY), WV_EDGES_MOST - 1);
	wv_edges_finish(&edges);
}

/* Pairs that were asked for together. */
static void test_refusals_at_once_are_one(void **state)
{
	struct wv_edge once = {.n_pairs = 0}, often = {.n_pairs = 0};

	(void)state;
	wv_edge_fail(&once, 1);
	for (unsigned int i = 0; i < 4; i++)
		wv_edge_fail(&often, 1 + i);
	assert_int_equal(often.pause_until_us, once.pause_until_us);
	wv_edge_fail(&often, often.pause_until_us);
	assert_true(often.pause_until_us > 2 * once.pause_until_us);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_user_with_most_gives_way),
	    cmocka_unit_test(test_users_share_no_edge),
	    cmocka_unit_test(test_none_gives_way),
	    cmocka_unit_test(test_refusals_at_once_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
