/* SPDX-License-Identifier: BSD-2-Clause */
/* What daemons say to each other, who is who, and what bounds it: the parts without a network. */
#include "fixture.h"

#include "base/base.h"
#include "daemon/config/config.h"
#include "daemon/loop/loop.h"
#include "daemon/peers/allowance.h"
#include "daemon/peers/link.h"
#include "daemon/peers/outbox.h"
#include "daemon/peers/peer_table.h"

#include <arpa/inet.h>
#include <errno.h>

static const struct wv_hello hello = {.version = WV_PEER_VERSION,
				      .id = "0123456789abcde",
				      .number = 0x0102030405060708,
				      .up_us = 0x1112131415161718};

static size_t write_hello(uint8_t to[static 64])
{
	uint8_t body[WV_HELLO_BYTES];

	wv_hello_write(body, &hello);
	wv_frame_write(to, WV_FRAME_HELLO, body, sizeof(body));
	return WV_FRAME_HEAD + sizeof(body);
}

static void test_every_truncation(void **state)
{
	uint8_t bytes[64];
	size_t whole = write_hello(bytes);
	struct wv_frame frame;

	(void)state;
	for (size_t n = 0; n < whole; n++) {
		wv_auto_free uint8_t *exact = malloc(n ? n : 1); /* for sanitizers */

		memcpy(exact, bytes, n);
		assert_int_equal(wv_frame_parse(exact, n, &frame), 0);
	}
	assert_int_equal(wv_frame_parse(bytes, whole, &frame), whole);
	assert_int_equal(wv_frame_parse(bytes, sizeof(bytes), &frame), whole);
	assert_int_equal(frame.type, WV_FRAME_HELLO);
	assert_int_equal(frame.length, WV_HELLO_BYTES);
}

static void test_lengths(void **state)
{
	static const struct {
		uint32_t length;
		int result;
	} cases[] = {
	    {WV_FRAME_BODY, 0}, /* not complete */
	    {WV_FRAME_BODY + 1, -EMSGSIZE},
	    {0x7fffffff, -EMSGSIZE},
	    {0xffffffff, -EMSGSIZE},
	};
	struct wv_frame frame;

	(void)state;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		uint8_t bytes[WV_FRAME_HEAD] = {0};
		uint32_t length = htonl(cases[i].length);

		memcpy(bytes, &length, sizeof(length));
		/* Nothing is waited for that can never be taken. */
		assert_int_equal(wv_frame_parse(bytes, sizeof(length), &frame), cases[i].result);
		assert_int_equal(wv_frame_parse(bytes, sizeof(bytes), &frame), cases[i].result);
	}
}

static void test_hello(void **state)
{
	uint8_t bytes[64];
	struct wv_hello read;
	struct wv_frame frame;

	(void)state;
	wv_frame_parse(bytes, write_hello(bytes), &frame);
	assert_int_equal(wv_hello_read(&frame, &read), 0);
	assert_int_equal(read.version, hello.version);
	assert_memory_equal(read.id, hello.id, WV_NODE_ID);
	assert_int_equal(read.number, hello.number);
	assert_int_equal(read.up_us, hello.up_us);
	for (frame.length = 0; frame.length < WV_HELLO_BYTES; frame.length++)
		assert_int_equal(wv_hello_read(&frame, &read), -EPROTO);
	frame.length = WV_HELLO_BYTES + 1;
	assert_int_equal(wv_hello_read(&frame, &read), -EPROTO);
	frame.length = WV_HELLO_BYTES;
	frame.type = WV_FRAME_PING;
	assert_int_equal(wv_hello_read(&frame, &read), -EPROTO);
	frame.type = WV_FRAME_HELLO;
	bytes[WV_FRAME_HEAD] ^= 1; /* the magic number */
	assert_int_equal(wv_hello_read(&frame, &read), -EPROTO);
}

static void test_hello_of_another_version(void **state)
{
	uint8_t bytes[64];
	struct wv_hello read;
	struct wv_frame frame;

	(void)state;
	wv_frame_parse(bytes, write_hello(bytes), &frame);
	bytes[WV_FRAME_HEAD + 4] = 0x12;
	bytes[WV_FRAME_HEAD + 5] = 0x34;
	for (frame.length = 6; frame.length < 2 * WV_HELLO_BYTES; frame.length++) {
		assert_int_equal(wv_hello_read(&frame, &read), -EPROTONOSUPPORT);
		assert_int_equal(read.version, 0x1234);
	}
}

static void test_goodbye(void **state)
{
	static const uint8_t body[] = "no\nroom\x1b[2J\xff!";
	const struct wv_frame frame = {.body = body, .length = sizeof(body) - 1};
	char text[8], all[64];

	(void)state;
	wv_goodbye_read(&frame, all, sizeof(all));
	assert_string_equal(all, "no?room?[2J?!");
	wv_goodbye_read(&frame, text, sizeof(text));
	assert_string_equal(text, "no?room");
}

static void test_allowance(void **state)
{
	const struct wv_allowance_rate rate = {.share_us = 50000, .most_us = 20000}; /* 5 % */
	struct wv_allowance a = {0};
	int64_t now_us = 1000, wait_us;

	(void)state;
	assert_int_equal(wv_allowance_wait(&a, &rate, now_us), 0);
	wv_allowance_charge(&a, 20000);
	wait_us = wv_allowance_wait(&a, &rate, now_us);
	assert_true(wait_us > 0);
	assert_true(wv_allowance_wait(&a, &rate, now_us + wait_us - 21) > 0);
	assert_int_equal(wv_allowance_wait(&a, &rate, now_us + wait_us), 0);
	/* A debt is waited for: 50 ms of it take a second. */
	now_us += 1000000;
	wv_allowance_wait(&a, &rate, now_us);
	wv_allowance_charge(&a, 70000);
	assert_true(wv_allowance_wait(&a, &rate, now_us + 999900) > 0);
	assert_int_equal(wv_allowance_wait(&a, &rate, now_us + 1000100), 0);
}

/* Whoever asks all the time gets no more, and no less, than the share. */
static void test_allowance_adds_up(void **state)
{
	const struct wv_allowance_rate rate = {.share_us = 50000, .most_us = 20000};
	struct wv_allowance a = {0};
	int64_t used_us = -20000;

	(void)state;
	for (int64_t now_us = 1; now_us < 10000000; now_us += 7)
		if (!wv_allowance_wait(&a, &rate, now_us)) {
			wv_allowance_charge(&a, 10);
			used_us += 10;
		}
	assert_in_range(used_us, 499000, 501000);
}

static void test_allowance_does_not_pile_up(void **state)
{
	const struct wv_allowance_rate rate = {.share_us = 50000, .most_us = 20000};
	struct wv_allowance a = {0};

	(void)state;
	wv_allowance_wait(&a, &rate, 1);
	wv_allowance_wait(&a, &rate, INT64_MAX / 2);
	assert_int_equal(a.left_us, 20000);
}

static void test_outbox_is_bounded(void **state)
{
	struct wv_outbox o = {0};
	size_t n = 0;
	uint8_t *to;

	(void)state;
	while ((to = wv_outbox_add(&o, 1000))) {
		memset(to, (int)(n++ % 251), 1000);
		assert_true(n < 1000);
	}
	assert_int_equal(n, WV_OUTBOX_MOST / 1000);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(o.bytes[o.start], i % 251);
		assert_int_equal(o.bytes[o.start + 999], i % 251);
		wv_outbox_sent(&o, 1000);
		if (i == n / 2) /* what was sent makes room */
			assert_non_null(wv_outbox_add(&o, 0));
	}
	assert_int_equal(wv_outbox_waiting(&o), 0);
	assert_null(o.bytes); /* nothing is kept of a burst */
	wv_outbox_clear(&o);
}

static void test_outbox_goes_round(void **state)
{
	struct wv_outbox o = {0};

	(void)state;
	assert_non_null(wv_outbox_add(&o, 100));
	for (unsigned int i = 0; i < 10000; i++) {
		assert_non_null(wv_outbox_add(&o, 100));
		wv_outbox_sent(&o, 100);
	}
	assert_true(o.room <= 4096);
	wv_outbox_clear(&o);
}

static void test_one_of_two_connections(void **state)
{
	/* The same two connections, as both nodes see them: "a" has dialled the first. */
	struct wv_link a_first = {.own = {.id = "a", .number = 9},
				  .hello = {.id = "b", .number = 1}};
	struct wv_link a_second = {.own = {.id = "a", .number = 2},
				   .hello = {.id = "b", .number = 7}};
	struct wv_link b_first = {.own = a_first.hello, .hello = a_first.own};
	struct wv_link b_second = {.own = a_second.hello, .hello = a_second.own};

	(void)state;
	a_first.dialled = b_second.dialled = true;
	assert_true(wv_link_beats(&a_first, &a_second));
	assert_false(wv_link_beats(&a_second, &a_first));
	assert_true(wv_link_beats(&b_first, &b_second));
	assert_false(wv_link_beats(&b_second, &b_first));
	/* Both dialled by "a": the later one, by its dialler's number. */
	a_second.dialled = true;
	b_second.dialled = false;
	assert_true(wv_link_beats(&a_first, &a_second));
	assert_true(wv_link_beats(&b_first, &b_second));
	assert_false(wv_link_beats(&b_second, &b_first));
}

static void test_nodes(void **state)
{
	static const struct {
		const char *text, *name;
		uint16_t port;
		bool numeric;
	} good[] = {
	    {"10.0.0.7", "10.0.0.7", 7, true},	      {"10.0.0.7:99", "10.0.0.7", 99, true},
	    {"fd00::1", "fd00::1", 7, true},	      {"[fd00::1]:99", "fd00::1", 99, true},
	    {"::ffff:10.0.0.7", "10.0.0.7", 7, true}, {"node7.rack-1", "node7.rack-1", 7, false},
	    {"node7:65535", "node7", 65535, false},
	};
	static const char *const bad[] = {
	    "",	     ":1",	   "a:",     "a:0",	   "a:65536", "a:1x", "a: 1", "[fd00::1",
	    "[a]:1", "[fd00::1]x", "10.0.0", "10.0.0.256", "a/b",     "-a",   "a\n",  "fd00::x"};
	struct wv_node_address node;

	(void)state;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(good); i++) {
		assert_int_equal(wv_node_address_parse(good[i].text, 7, &node), 0);
		assert_string_equal(node.name, good[i].name);
		assert_int_equal(node.port, good[i].port);
		assert_int_equal(node.numeric, good[i].numeric);
	}
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(bad); i++)
		assert_int_equal(wv_node_address_parse(bad[i], 7, &node), -EINVAL);
}

static void test_gids(void **state)
{
	static const char text[] = "fe80::2:c903:1:1234=ib-node:5000, fec0:0:0:1::/64=10.9.9.9,"
				   "fec0:0:0:0::/63=10.8.8.8";
	static const struct {
		const char *gid, *node; /* NULL: nobody knows */
		uint16_t port;
	} cases[] = {
	    {"::ffff:10.0.0.7", "10.0.0.7", 0},
	    {"fd00::7", "fd00::7", 0},
	    {"fe80::2:c903:1:1234", "ib-node", 5000},
	    {"fe80::2:c903:1:1235", NULL, 0},
	    {"fec0:0:0:1::42", "10.9.9.9", 0},
	    {"fec0::42", "10.8.8.8", 0},
	    {"fec0:0:0:2::42", "fec0:0:0:2::42", 0},
	    {"::", NULL, 0},
	    {"ff02::1", NULL, 0},
	};
	struct wv_gid_rows rows = {.n = 0};
	struct wv_node_address node;
	uint8_t gid[16];

	(void)state;
	assert_int_equal(wv_gid_rows_read(&rows, text), 0);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		inet_pton(AF_INET6, cases[i].gid, gid);
		assert_int_equal(wv_node_of_gid(&rows, gid, &node), cases[i].node != NULL);
		if (!cases[i].node)
			continue;
		assert_string_equal(node.name, cases[i].node);
		assert_int_equal(node.port, cases[i].port);
	}
	free(rows.all);
}

/* Each note of a peer has GIDs, so looking for one must not take longer than the note. */
static void test_many_rows_of_gids(void **state)
{
	static char text[WV_CONFIG_LIST];
	struct wv_gid_rows rows = {.n = 0};
	struct wv_node_address node;
	uint8_t gid[16] = {0xfe, 0x80, [15] = 0xff};
	size_t used = 0;
	int64_t start_us;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		used +=
		    (size_t)snprintf(text + used, sizeof(text) - used, "fec0::%x=node%u,", i, i);
	assert_int_equal(wv_gid_rows_read(&rows, text), 0);
	assert_int_equal(rows.n, 1000);
	start_us = wv_cpu_clock();
	for (unsigned int i = 0; i < 10000; i++)
		assert_false(wv_node_of_gid(&rows, gid, &node));
	assert_in_range(wv_cpu_clock() - start_us, 0, 5000000); /* with a sanitizer, too */
	free(rows.all);
}

static void test_bad_rows_of_gids(void **state)
{
	static const char *const bad[] = {"fe80::1",	   "=a",	   "fe80::1=",
					  "10.0.0.7=a",	   "fe80::1/=a",   "fe80::1/0=a",
					  "fe80::1/129=a", "fe80::1/6x=a", "fe80::1=a b"};
	struct wv_gid_row row;

	(void)state;
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(bad); i++)
		assert_int_equal(wv_gid_row_parse(bad[i], &row), -EINVAL);
}

static struct wv_peer *add(struct wv_peer_table *t, const char *text, int64_t now_us)
{
	struct wv_node_address node;

	assert_int_equal(wv_node_address_parse(text, 1, &node), 0);
	return wv_peer_table_add(t, &node, now_us, 60000000);
}

static void test_table_is_bounded(void **state)
{
	const int64_t second_us = 1000000;
	struct wv_link up = {.hello = hello};
	struct wv_peer *configured, *connected, *forgotten;
	struct wv_node_address node;
	struct wv_peer_table t;

	(void)state;
	wv_peer_table_init(&t, 3);
	configured = add(&t, "10.0.0.1", 1);
	configured->configured = true;
	connected = add(&t, "10.0.0.2", 1);
	connected->up = &up;
	forgotten = add(&t, "10.0.0.3", 1);
	assert_ptr_equal(wv_peer_by_ip(&t, &forgotten->node.ip), forgotten);
	/* Asked for lately: it stays. Later it makes room, and only it. */
	assert_null(add(&t, "10.0.0.4", 2 * second_us));
	assert_non_null(add(&t, "10.0.0.4", 100 * second_us));
	assert_null(add(&t, "10.0.0.5", 101 * second_us));
	wv_node_address_parse("10.0.0.3", 1, &node);
	assert_null(wv_peer_by_node(&t, &node));
	assert_int_equal(t.n, 3);
	wv_peer_table_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_truncation),
	    cmocka_unit_test(test_lengths),
	    cmocka_unit_test(test_hello),
	    cmocka_unit_test(test_hello_of_another_version),
	    cmocka_unit_test(test_goodbye),
	    cmocka_unit_test(test_allowance),
	    cmocka_unit_test(test_allowance_adds_up),
	    cmocka_unit_test(test_allowance_does_not_pile_up),
	    cmocka_unit_test(test_outbox_is_bounded),
	    cmocka_unit_test(test_outbox_goes_round),
	    cmocka_unit_test(test_one_of_two_connections),
	    cmocka_unit_test(test_nodes),
	    cmocka_unit_test(test_gids),
	    cmocka_unit_test(test_many_rows_of_gids),
	    cmocka_unit_test(test_bad_rows_of_gids),
	    cmocka_unit_test(test_table_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
