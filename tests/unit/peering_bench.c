/* SPDX-License-Identifier: BSD-2-Clause */
#include "peering_bench.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>

#define LIMIT_US INT64_C(60000000)
#define NEW_KEY	 "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"

static char folder[] = "/tmp/wv-peering-XXXXXX";
sd_event *event;
static struct wv_workers *workers;
struct node nodes[2];
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

void set(struct node *n, const char *name, const char *format, ...)
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
	n->peers = (struct wv_peers){.event = event,
				     .workers = workers,
				     .config = &n->config,
				     .events = &events,
				     .arg = n,
				     .max_links = 64};
}

void run_until(bool (*condition)(void))
{
	int64_t end_us = wv_steady_clock() + LIMIT_US;

	while (!condition()) {
		assert_true(wv_steady_clock() < end_us);
		assert_true(wv_loop_turn(event, 10000) >= 0);
	}
}

bool both_up(void)
{
	return nodes[0].up && nodes[1].up;
}

bool both_down(void)
{
	return !nodes[0].up && !nodes[1].up;
}

int make_certificates(void **state)
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

int remove_certificates(void **state)
{
	(void)state;
	return !shell("rm -r %s", folder);
}

int set_up(void **state)
{
	uint16_t port;

	(void)state;
	if (no_openssl)
		return 0;
	memset(nodes, 0, sizeof(nodes));
	assert_int_equal(sd_event_new(&event), 0);
	assert_int_equal(wv_workers_start(&workers, event), 0);
	port = free_port();
	for (unsigned int i = 0; i < 2; i++)
		configure(&nodes[i], i + 1, port, i ? "127.0.0.1" : "127.0.0.2");
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(wv_peers_start(&nodes[i].peers), 0);
	run_until(both_up);
	return 0;
}

int tear_down(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 && !no_openssl; i++)
		wv_peers_stop(&nodes[i].peers);
	wv_workers_stop(workers);
	event = sd_event_unref(event);
	return 0;
}

void need_openssl(void)
{
	if (no_openssl)
		skip();
}

void gid_of(uint8_t gid[static 16], const char *text)
{
	assert_int_equal(inet_pton(AF_INET6, text, gid), 1);
}
