/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers as the layer above sees them. */
#include "peering_bench.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/pair_state.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/stat.h>

static bool got_message(void)
{
	return nodes[1].n_messages;
}

static void test_message(void **state)
{
	uint8_t body[WV_FRAME_BODY + 1];

	(void)state;
	need_openssl();
	memset(body, 0x5a, sizeof(body));
	assert_int_equal(wv_peer_send(nodes[0].up, TYPE, body, sizeof(body)), -EMSGSIZE);
	assert_int_equal(wv_peer_send(nodes[0].up, WV_FRAME_PING, body, 8), -EINVAL);
	assert_int_equal(wv_peer_send(nodes[0].up, TYPE, body, WV_FRAME_BODY), 0);
	run_until(got_message);
	assert_int_equal(nodes[1].type, TYPE);
	assert_int_equal(nodes[1].length, WV_FRAME_BODY);
	assert_memory_equal(nodes[1].body, body, WV_FRAME_BODY);
	assert_int_equal(nodes[0].n_messages, 0);
}

static bool got_1000(void)
{
	return nodes[1].n_messages == 1000;
}

static void test_messages_in_order(void **state)
{
	(void)state;
	need_openssl();
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(wv_peer_send(nodes[0].up, TYPE, &i, sizeof(i)), 0);
	run_until(got_1000);
	assert_int_equal(*(uint32_t *)nodes[1].body, 999);
	assert_int_equal(nodes[1].n_down, nodes[1].n_up - 1);
}

static bool got_all_notes(void)
{
	return nodes[1].n_messages == WV_PAIRS_MOST;
}

/* One note for each pair that there may be, as after a lost connection. */
static void test_notes_of_all_pairs(void **state)
{
	static const struct wv_pair_note note;

	(void)state;
	need_openssl();
	for (unsigned int i = 0; i < WV_PAIRS_MOST; i++)
		assert_int_equal(wv_peer_send(nodes[0].up, TYPE, &note, sizeof(note)), 0);
	run_until(got_all_notes);
	assert_int_equal(nodes[1].n_down, nodes[1].n_up - 1);
}

static void test_malformed_message(void **state)
{
	(void)state;
	need_openssl();
	nodes[1].answer = -EPROTO;
	assert_int_equal(wv_peer_send(nodes[0].up, TYPE, "x", 1), 0);
	run_until(both_down);
	assert_non_null(strstr(TAILQ_FIRST(&nodes[1].peers.table.all)->why, "broke the protocol"));
}

/* The queue is bounded. Within wv_peer_send() nothing is told; the loop tells it. */
static void test_full_queue(void **state)
{
	static const uint8_t body[WV_FRAME_BODY];
	unsigned int n = 0;
	int err = 0;

	(void)state;
	need_openssl();
	while (!err && n++ < 1000)
		err = wv_peer_send(nodes[0].up, TYPE, body, sizeof(body));
	assert_int_equal(err, -ENOBUFS);
	assert_int_equal(n, WV_OUTBOX_MOST / (WV_FRAME_HEAD + WV_FRAME_BODY) + 1);
	assert_int_equal(wv_peer_send(nodes[0].up, TYPE, body, 1), -ENOTCONN);
	assert_non_null(nodes[0].up);
	run_until(both_down);
	run_until(both_up); /* and again */
}

static void test_find(void **state)
{
	uint8_t gid[16];

	(void)state;
	need_openssl();
	gid_of(gid, "::ffff:127.0.0.2");
	assert_ptr_equal(wv_peers_find(&nodes[0].peers, gid), nodes[0].up);
	gid_of(gid, "::ffff:127.0.0.9");
	assert_null(wv_peers_find(&nodes[0].peers, gid));
	assert_int_equal(wv_gid_rows_read(&nodes[0].peers.table.gids, "fec0::/16=127.0.0.2"), 0);
	gid_of(gid, "fec0::42");
	assert_ptr_equal(wv_peers_find(&nodes[0].peers, gid), nodes[0].up);
}

/* If any peer is allowed, a GID that is not known makes one; not without bounds. */
static void test_find_any(void **state)
{
	struct wv_peer *peer;
	unsigned int n = 0;
	uint8_t gid[16];

	(void)state;
	need_openssl();
	nodes[0].config.any_peer = true;
	gid_of(gid, "::ffff:127.0.3.0");
	for (; n < 100 && (peer = wv_peers_find(&nodes[0].peers, gid)); n++, gid[15]++) {
		assert_int_equal(wv_peer_send(peer, TYPE, "", 0), -ENOTCONN);
		assert_ptr_equal(wv_peers_find(&nodes[0].peers, gid), peer);
	}
	assert_in_range(n, 32, 99);
}

/* Other nodes are dialled by their GID, and only then. */
static void test_any_dials(void **state)
{
	uint8_t gid[16];

	(void)state;
	need_openssl();
	for (unsigned int i = 0; i < 2; i++) {
		wv_peers_stop(&nodes[i].peers);
		nodes[i].up = NULL;
		set(&nodes[i], "peers", "none");
		set(&nodes[i], "peers", "any");
		assert_int_equal(wv_peers_start(&nodes[i].peers), 0);
	}
	gid_of(gid, "::ffff:127.0.0.1");
	assert_non_null(wv_peers_find(&nodes[1].peers, gid));
	run_until(both_up);
	assert_ptr_equal(wv_peers_find(&nodes[1].peers, gid), nodes[1].up);
}

/* The peer of node 0 that turned out to be node 0, and whose connection has ended. */
static struct wv_peer *self(void)
{
	struct wv_peer *peer;

	TAILQ_FOREACH (peer, &nodes[0].peers.table.all, entry)
		if (peer->state == WV_PEER_SELF && !peer->dial)
			return peer;
	return NULL;
}

static bool found_self(void)
{
	return self();
}

static bool has_one_link(void)
{
	return nodes[0].peers.local.n_links <= 1;
}

/* A peer makes room for another one before the end of its connection is told. */
static void test_peer_goes_before_its_link(void **state)
{
	struct wv_link *link;
	uint8_t gid[16];

	(void)state;
	need_openssl();
	wv_peers_stop(&nodes[0].peers);
	nodes[0].up = NULL;
	set(&nodes[0], "peers", "none");
	set(&nodes[0], "peers", "any");
	assert_int_equal(wv_peers_start(&nodes[0].peers), 0);
	gid_of(gid, "::ffff:127.0.0.1");
	assert_non_null(wv_peers_find(&nodes[0].peers, gid));
	run_until(found_self);
	TAILQ_FOREACH (link, &nodes[0].peers.local.links, link)
		assert_ptr_not_equal(link->peer, self());
	self()->wanted_us = 1; /* long ago */
	nodes[0].peers.table.most = nodes[0].peers.table.n;
	gid_of(gid, "::ffff:127.0.3.0");
	assert_non_null(wv_peers_find(&nodes[0].peers, gid));
	assert_null(self());
	run_until(has_one_link); /* that of node 1 */
}

/* All links of @n wait for @us. */
static void pause_links(struct node *n, int64_t us)
{
	n->peers.local.total = (struct wv_allowance){
	    .left_us = -us * wv_links_rate.share_us / 1000000, .since_us = wv_steady_clock()};
}

/* The loop sleeps while nothing can be done: it has few turns in @us. */
static void expect_rest(int64_t us)
{
	int64_t end_us = wv_steady_clock() + us;
	unsigned int n = 0;

	while (wv_steady_clock() < end_us) {
		assert_true(wv_loop_turn(event, 10000) >= 0);
		n++;
	}
	assert_in_range(n, 0, 200);
}

static void test_pause_while_connecting(void **state)
{
	(void)state;
	need_openssl();
	for (unsigned int i = 0; i < 2; i++) {
		wv_peers_stop(&nodes[i].peers);
		nodes[i].up = NULL;
	}
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(wv_peers_start(&nodes[i].peers), 0);
		pause_links(&nodes[i], 300000);
	}
	expect_rest(200000);
	assert_false(both_up());
	run_until(both_up);
}

static bool all_sent(void)
{
	return !wv_outbox_waiting(&nodes[0].up->up->out);
}

/* What was queued is sent in a pause, too; then the link no longer waits for room to send. */
static void test_pause_after_full_socket(void **state)
{
	static const uint8_t body[WV_FRAME_BODY];

	(void)state;
	need_openssl();
	pause_links(&nodes[1], 60000000);
	while (!nodes[0].up->up->wants_write) {
		bool empty = all_sent();

		for (unsigned int i = 0; empty && i < 10; i++)
			assert_int_equal(wv_peer_send(nodes[0].up, TYPE, body, sizeof(body)), 0);
		assert_true(wv_loop_turn(event, 10000) >= 0);
	}
	pause_links(&nodes[0], 60000000);
	pause_links(&nodes[1], 0);
	run_until(all_sent);
	expect_rest(200000);
}

/* The owner and the access list decide, too, whether a file can be read. */
static void test_stamp_of_credentials(void **state)
{
	const struct timespec tick = {.tv_nsec = 20000000}; /* of the file system's clock */
	const struct wv_tls_files *files = &nodes[0].peers.local.files;
	uint64_t stamp;

	(void)state;
	need_openssl();
	stamp = wv_tls_stamp(files);
	assert_int_equal(wv_tls_stamp(files), stamp);
	nanosleep(&tick, NULL);
	assert_int_equal(chown(files->key, geteuid(), getegid()), 0);
	assert_int_not_equal(wv_tls_stamp(files), stamp);
}

static bool credentials_failed(void)
{
	return *nodes[0].peers.local.why;
}

static bool credentials_are_good(void)
{
	return !*nodes[0].peers.local.why;
}

/* What failed for another reason than the files is read again although they are the same. */
static void test_credentials_again(void **state)
{
	struct wv_local_end *local = &nodes[0].peers.local;
	struct rlimit all, none;

	(void)state;
	need_openssl();
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &all), 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = all.rlim_max};
	assert_int_equal(chmod(local->files.certificate, 0600), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	wv_timer_arm(local->look, wv_steady_clock());
	run_until(credentials_failed);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &all), 0);
	wv_timer_arm(local->look, wv_steady_clock());
	run_until(credentials_are_good);
	assert_true(both_up());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_message, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_messages_in_order, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_notes_of_all_pairs, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_malformed_message, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_full_queue, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_find_any, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_any_dials, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_peer_goes_before_its_link, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_pause_while_connecting, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_pause_after_full_socket, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_stamp_of_credentials, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_credentials_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
