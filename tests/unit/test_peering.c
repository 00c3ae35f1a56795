/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Peers as the layer above sees them: two nodes of one cluster in this process, 127.0.0.1 and
 * 127.0.0.2, whose loop the test runs. The certificates come from openssl(1).
 */
#include "fixture.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/peers/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#define LIMIT_US INT64_C(60000000)
#define TYPE	 (WV_FRAME_FIRST_MESSAGE + 3)
#define NEW_KEY	 "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

struct node {
	struct wv_config config;
	struct wv_peers peers;
	struct wv_peer *up; /* the other one, while it is up */
	unsigned int n_up, n_down, n_messages;
	uint16_t type;
	size_t length;
	uint8_t body[WV_FRAME_BODY];
	int answer; /* of message() */
};

static char folder[] = "/tmp/wv-peering-XXXXXX";
static sd_event *event;
static struct node nodes[2];
static bool no_openssl;

static void on_up(void *arg, struct wv_peer *peer)
{
	struct node *n = arg;

	assert_null(n->up);
	n->up = peer;
	n->n_up++;
}

static void on_down(void *arg, struct wv_peer *peer)
{
	struct node *n = arg;

	assert_ptr_equal(n->up, peer);
	assert_int_equal(wv_peer_send(peer, TYPE, "", 0), -ENOTCONN);
	n->up = NULL;
	n->n_down++;
}

static int on_message(void *arg, struct wv_peer *peer, uint16_t type, const void *body,
		      size_t length)
{
	struct node *n = arg;

	assert_ptr_equal(n->up, peer);
	n->n_messages++;
	n->type = type;
	n->length = length;
	memcpy(n->body, body, length);
	return n->answer;
}

static const struct wv_peers_events events = {.up = on_up, .down = on_down, .message = on_message};

static bool shell(const char *format, ...)
{
	char command[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return !system(command); /* NOLINT: words of this file only */
}

static uint16_t free_port(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	wv_auto_fd fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t bytes = sizeof(at);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, bytes), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
	return ntohs(at.sin_port);
}

static void set(struct node *n, const char *name, const char *format, ...)
{
	char value[256];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	assert_int_equal(wv_config_set(&n->config, name, value), 0);
}

static void configure(struct node *n, unsigned int number, uint16_t port, const char *peers)
{
	wv_config_defaults(&n->config);
	set(n, "peers", "%s", peers);
	set(n, "peer-listen", "127.0.0.%u:%u", number, port);
	set(n, "peer-ca", "%s/ca.pem", folder);
	set(n, "peer-certificate", "%s/%u.pem", folder, number);
	set(n, "peer-key", "%s/%u-key.pem", folder, number);
	n->peers = (struct wv_peers){
	    .event = event, .config = &n->config, .events = &events, .arg = n, .max_links = 64};
}

static void run_until(bool (*condition)(void))
{
	int64_t end_us = wv_steady_clock() + LIMIT_US;

	while (!condition()) {
		assert_true(wv_steady_clock() < end_us);
		assert_true(wv_loop_turn(event, 10000) >= 0);
	}
}

static bool both_up(void)
{
	return nodes[0].up && nodes[1].up;
}

static bool both_down(void)
{
	return !nodes[0].up && !nodes[1].up;
}

static bool got_message(void)
{
	return nodes[1].n_messages;
}

static int make_certificates(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	no_openssl = !mkdtemp(folder) ||
		     !shell("openssl req -x509 " NEW_KEY " -subj /CN=ca -keyout %s/ca-key.pem "
			    "-out %s/ca.pem 2>/dev/null",
			    folder, folder);
	for (unsigned int i = 1; i <= 2 && !no_openssl; i++)
		no_openssl = !shell("openssl req -x509 -CA %s/ca.pem -CAkey %s/ca-key.pem " NEW_KEY
				    " -subj /CN=%u -addext subjectAltName=IP:127.0.0.%u "
				    "-addext basicConstraints=CA:FALSE -keyout %s/%u-key.pem "
				    "-out %s/%u.pem 2>/dev/null",
				    folder, folder, i, i, folder, i, folder, i);
	return 0;
}

static int remove_certificates(void **state)
{
	(void)state;
	return !shell("rm -r %s", folder);
}

static int set_up(void **state)
{
	uint16_t port;

	(void)state;
	if (no_openssl)
		return 0;
	memset(nodes, 0, sizeof(nodes));
	assert_int_equal(sd_event_new(&event), 0);
	port = free_port();
	for (unsigned int i = 0; i < 2; i++)
		configure(&nodes[i], i + 1, port, i ? "127.0.0.1" : "127.0.0.2");
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(wv_peers_start(&nodes[i].peers), 0);
	run_until(both_up);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 && !no_openssl; i++)
		wv_peers_stop(&nodes[i].peers);
	event = sd_event_unref(event);
	return 0;
}

static void need_openssl(void)
{
	if (no_openssl)
		skip();
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

static bool got_all(void)
{
	return nodes[1].n_messages == 1000;
}

static void test_messages_in_order(void **state)
{
	(void)state;
	need_openssl();
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(wv_peer_send(nodes[0].up, TYPE, &i, sizeof(i)), 0);
	run_until(got_all);
	assert_int_equal(*(uint32_t *)nodes[1].body, 999);
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

static void gid_of(uint8_t gid[static 16], const char *text)
{
	assert_int_equal(inet_pton(AF_INET6, text, gid), 1);
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
	set(&nodes[0], "peer-gids", "fec0::/16=127.0.0.2");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_message, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_messages_in_order, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_malformed_message, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_full_queue, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_find_any, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_any_dials, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_peer_goes_before_its_link, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, make_certificates, remove_certificates);
}
