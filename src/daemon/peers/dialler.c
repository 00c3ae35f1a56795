/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/dialler.h"

#include "base/backoff.h"
#include "base/base.h"
#include "base/random.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>

#define FIRST_PAUSE_US	 250000
#define LONGEST_PAUSE_US 30000000
#define FIRST_REFUSED_US 5000000
#define LONGEST_REFUSED	 300000000
#define UNWANTED_US	 600000000

/* The lookup of a name. */
struct lookup {
	struct wv_work work;
	struct wv_peer *peer;
	char name[WV_NODE_NAME];
	struct in6_addr ips[WV_PEER_IPS];
	unsigned int n_ips;
	int error; /* of getaddrinfo(); 0 if it was not called */
};

/* The other node takes the address for the sender: it is to be the one that it dials, too. */
static int leave_from(const struct in6_addr *own, int fd, const struct in6_addr *to)
{
	struct sockaddr_storage from;
	socklen_t bytes = wv_ip_socket(&from, own, 0);
	const int on = 1;

	if (IN6_IS_ADDR_UNSPECIFIED(own) || IN6_IS_ADDR_V4MAPPED(own) != IN6_IS_ADDR_V4MAPPED(to))
		return 0;
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on));
	return bind(fd, (struct sockaddr *)&from, bytes) ? -errno : 0;
}

/* A socket that connects. The caller's; or -errno. */
static int connect_to(const struct in6_addr *own, const struct in6_addr *ip, uint16_t port)
{
	struct sockaddr_storage to;
	socklen_t bytes = wv_ip_socket(&to, ip, port);
	wv_auto_fd fd = socket(to.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int err;

	if (fd < 0)
		return -errno;
	err = leave_from(own, fd, ip);
	if (err)
		return err;
	if (connect(fd, (struct sockaddr *)&to, bytes) && errno != EINPROGRESS)
		return -errno;
	return wv_steal_fd(&fd);
}

static void connect_now(struct wv_peer *peer)
{
	struct wv_local_end *local = peer->local;
	const struct in6_addr *ip = &peer->ips[peer->failures % peer->n_ips];
	int fd = local->context ? connect_to(&local->from.ip, ip, peer->node.port) : -ENOKEY;

	if (fd == -ENOKEY) {
		wv_dial_later(peer, true, local->why);
		return;
	}
	if (fd < 0) {
		wv_dial_later(peer, false, strerror(-fd));
		return;
	}
	peer->dial =
	    wv_local_end_link(local, fd, ip, true, peer->node.numeric ? NULL : peer->node.name);
	if (peer->dial)
		peer->dial->peer = peer;
	else
		wv_dial_later(peer, false, "no memory, or too many connections");
}

static void take_address(struct lookup *l, const struct addrinfo *info)
{
	const struct sockaddr_in6 *v6 = (const void *)info->ai_addr;

	if (info->ai_family == AF_INET6 && l->n_ips < WV_PEER_IPS &&
	    !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr))
		l->ips[l->n_ips++] = v6->sin6_addr;
}

/* In a thread: the DNS may be slow. */
static void look_up(struct wv_work *work)
{
	struct lookup *l = (struct lookup *)work;
	const struct addrinfo hints = {
	    .ai_family = AF_INET6, .ai_socktype = SOCK_STREAM, .ai_flags = AI_V4MAPPED | AI_ALL};
	struct addrinfo *found = NULL;

	l->error = getaddrinfo(l->name, NULL, &hints, &found);
	for (const struct addrinfo *info = found; info; info = info->ai_next)
		take_address(l, info);
	if (found)
		freeaddrinfo(found);
	if (!l->error && !l->n_ips)
		l->error = EAI_NONAME;
}

static void on_looked_up(struct wv_work *work)
{
	struct lookup *l = (struct lookup *)work;
	struct wv_peer *peer = l->peer;

	peer->resolving = NULL;
	if (l->n_ips) {
		memcpy(peer->ips, l->ips, sizeof(l->ips));
		peer->n_ips = l->n_ips;
	}
	if (peer->state != WV_PEER_CONNECTING)
		; /* it has connected meanwhile */
	else if (l->n_ips)
		connect_now(peer);
	else
		wv_dial_later(peer, false, l->error ? gai_strerror(l->error) : "stopped");
	free(l);
}

static void resolve(struct wv_peer *peer)
{
	struct lookup *l = calloc(1, sizeof(*l));

	if (!l) {
		wv_dial_later(peer, false, "no memory");
		return;
	}
	l->work = (struct wv_work){.run = look_up, .done = on_looked_up};
	l->peer = peer;
	strcpy(l->name, peer->node.name);
	peer->resolving = &l->work;
	wv_line_give(peer->local->line, &l->work);
}

void wv_dial(struct wv_peer *peer)
{
	if (peer->up)
		return;
	sd_event_source_set_enabled(peer->due, SD_EVENT_OFF);
	peer->state = WV_PEER_CONNECTING; /* so that its failure is noticed */
	if (peer->dial || peer->resolving)
		return;
	if (peer->node.numeric)
		connect_now(peer);
	else
		resolve(peer);
}

static int on_due(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_peer *peer = data;

	(void)source;
	(void)now;
	if (peer->configured || wv_steady_clock() - peer->wanted_us < UNWANTED_US)
		wv_dial(peer);
	else
		wv_dial_never(peer, WV_PEER_IDLE);
	return 0;
}

int wv_dialler_add(struct wv_local_end *local, struct wv_peer *peer)
{
	peer->local = local;
	return wv_timer_add(local->event, WV_PRIORITY_PEERS, 10000, on_due, peer, &peer->due);
}

/* Between half of @us and @us, so that nodes that failed together do not come back together. */
static int64_t jitter(uint64_t us)
{
	uint64_t random = wv_random_number() ?: (uint64_t)wv_steady_clock();

	return (int64_t)(us / 2 + us / 2 * (random % 1024) / 1024);
}

void wv_dial_later(struct wv_peer *peer, bool refused, const char *why)
{
	uint64_t pause_us;

	peer->failures++;
	pause_us = refused ? wv_backoff(FIRST_REFUSED_US, LONGEST_REFUSED, peer->failures)
			   : wv_backoff(FIRST_PAUSE_US, LONGEST_PAUSE_US, peer->failures);
	peer->state = refused ? WV_PEER_REFUSED : WV_PEER_BACKING_OFF;
	snprintf(peer->why, sizeof(peer->why), "%s", why);
	wv_timer_arm(peer->due, wv_steady_clock() + jitter(pause_us));
}

void wv_dial_never(struct wv_peer *peer, enum wv_peer_state state)
{
	sd_event_source_set_enabled(peer->due, SD_EVENT_OFF);
	peer->state = state;
}
