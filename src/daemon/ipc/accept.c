/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/accept.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define PAUSE_US	 100000
#define ACCEPTS_AT_ONCE	 16
#define MESSAGES_AT_ONCE 4

/* Stands for clients of whom nothing is known. */
static const struct wv_tenant nobody = {.uid = (uid_t)-1};

static bool has_room(struct wv_acceptor *a, const struct wv_tenant *tenant)
{
	const struct wv_service *s = a->connections->service;
	unsigned int others = s->n_clients - tenant->n_clients;

	return tenant->n_clients < WV_MAX_CLIENTS_PER_TENANT &&
	       tenant->n_clients < wv_share_limit(a->max_clients, others) &&
	       s->n_clients < a->max_clients;
}

static bool may_enter(struct wv_acceptor *a, struct wv_tenant *tenant)
{
	if (wv_closer_is_held_up(a->connections->service->closer, tenant))
		return false;
	return has_room(a, tenant) || (wv_connections_make_room(tenant) && has_room(a, tenant));
}

enum waiting { NOTHING, BYTES, DESCRIPTORS };

/*
 * What the next message on @fd brings, which is shut down and has SO_PASSCRED: so every message has
 * credentials, for which alone there is room here, and the kernel says that descriptors were cut
 * off (unix(7)). Those stay where they are.
 */
static enum waiting look_at_next(int fd)
{
	char control[CMSG_SPACE(sizeof(struct ucred))];
	struct msghdr msg = {.msg_control = control, .msg_controllen = sizeof(control)};

	if (recvmsg(fd, &msg, MSG_PEEK | MSG_DONTWAIT) < 0)
		return NOTHING;
	if (msg.msg_flags & MSG_CTRUNC)
		return DESCRIPTORS;
	return msg.msg_controllen ? BYTES : NOTHING;
}

/* Whether no descriptor waits on @fd, which is shut down. */
static bool is_free_of_descriptors(int fd)
{
	const int on = 1;
	enum waiting next = DESCRIPTORS;

	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return false;
	for (int i = 0; i < MESSAGES_AT_ONCE && (next = look_at_next(fd)) == BYTES; i++)
		recv(fd, NULL, 0, MSG_DONTWAIT);
	return next == NOTHING;
}

/*
 * Tells the client at once, so that the program goes on plainly instead of waiting. Where no
 * descriptor waits on @fd, closing it is quick; so what is left for others to close is bounded by
 * the number of descriptors that the client may have on their way (getrlimit(2), RLIMIT_NOFILE).
 */
static void turn_away(struct wv_acceptor *a, const struct wv_tenant *tenant, int fd)
{
	struct wv_service *s = a->connections->service;

	s->tally.over_limit++;
	shutdown(fd, SHUT_RDWR);
	if (is_free_of_descriptors(fd))
		close(fd);
	else
		wv_closer_give(s->closer, tenant, fd);
}

/* @fd becomes the connection's, or is closed. */
static void admit_as(struct wv_acceptor *a, int fd, struct wv_user *user, struct wv_tenant *tenant)
{
	struct wv_catalog *catalog = a->connections->service->catalog;

	user->n_clients++; /* a user with neither clients nor recipes is forgotten */
	if (may_enter(a, tenant))
		wv_connection_start(a->connections, fd, user, tenant);
	else
		turn_away(a, tenant, fd);
	user->n_clients--;
	wv_catalog_tidy_user(catalog, user);
}

/* Called by the namer, too. */
static void admit(void *data, int fd, uid_t uid, uint64_t container)
{
	struct wv_acceptor *a = data;
	struct wv_service *s = a->connections->service;
	struct wv_user *user = wv_catalog_user(s->catalog, uid, true);
	struct wv_tenant *tenant = wv_tenant_get(a->tenants, uid, container);

	s->tally.accepted++;
	if (user && tenant)
		admit_as(a, fd, user, tenant);
	else
		turn_away(a, &nobody, fd);
	wv_tenant_put(tenant);
}

static void on_accepted(struct wv_acceptor *a, int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	bool known = !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes);

	if (known && !a->per_container)
		admit(a, fd, peer.uid, 0);
	else if (!known || !wv_namer_give(&a->namer, fd, peer.uid, peer.pid))
		turn_away(a, &nobody, fd);
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The whole system may be short of descriptors, and closers may be at work: lets some time pass. */
static void pause_accepting(struct wv_acceptor *a)
{
	struct wv_service *s = a->connections->service;

	sd_event_source_set_enabled(a->listen_source, SD_EVENT_OFF);
	wv_timer_arm(a->pause_timer, wv_now(s->event) + PAUSE_US);
}

/* No descriptor is left. The spare one is given up for a moment, to turn the client away at once.
 */
static void on_no_descriptor(struct wv_acceptor *a)
{
	struct wv_service *s = a->connections->service;
	int fd;

	if (wv_log_allowed(&a->descriptors_limit, wv_now(s->event)))
		wv_log(WV_WARNING,
		       "out of descriptors with %u clients, and %u descriptors of clients that are "
		       "not closed yet: raise LimitNOFILE=, or lower --max-leases",
		       s->n_clients, wv_closer_busy(s->closer, NULL));
	wv_close_fd(&a->spare_fd);
	fd = accept4(a->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		turn_away(a, &nobody, fd);
	else
		s->tally.over_limit++;
	a->spare_fd = open_spare();
	pause_accepting(a);
}

static void on_no_connection(struct wv_acceptor *a, int err)
{
	if (err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS)
		on_no_descriptor(a);
	else if (err != EAGAIN && err != EINTR && err != ECONNABORTED)
		wv_log(WV_WARNING, "cannot accept a connection: %s", strerror(err));
}

/*
 * The first to connect after a pause need not wait for all messages that are there already. Where
 * they never pause, connections and messages take turns.
 */
static int on_clients_served(sd_event_source *source, void *data)
{
	struct wv_acceptor *a = data;

	(void)source;
	return sd_event_source_set_priority(a->listen_source, WV_PRIORITY_NEWCOMERS);
}

/* Programs that start together are served in one iteration of the loop. */
static int on_connection(sd_event_source *source, int listen_fd, uint32_t events, void *data)
{
	struct wv_acceptor *a = data;

	(void)events;
	sd_event_source_set_priority(source, WV_PRIORITY_CLIENTS);
	sd_event_source_set_enabled(a->newcomers_source, SD_EVENT_ONESHOT);
	for (unsigned int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			on_no_connection(a, errno);
			break;
		}
		on_accepted(a, fd);
	}
	wv_connections_serve(a->connections);
	return 0;
}

static int on_pause_over(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_acceptor *a = data;

	(void)source;
	(void)now;
	/* The client that was turned away has its number until a closer has closed it. */
	if (a->spare_fd < 0)
		a->spare_fd = open_spare();
	sd_event_source_set_enabled(a->listen_source, SD_EVENT_ON);
	return 0;
}

/* Called by the namer, when all that it knows now are admitted. */
static void serve_named(void *data)
{
	struct wv_acceptor *a = data;

	wv_connections_serve(a->connections);
}

static int start_namer(struct wv_acceptor *a)
{
	if (!a->per_container)
		return 0;
	a->namer = (struct wv_namer){
	    .event = a->connections->service->event,
	    .named = admit,
	    .settled = serve_named,
	    .arg = a,
	};
	return wv_namer_start(&a->namer);
}

int wv_accept_start(struct wv_acceptor *a)
{
	sd_event *event = a->connections->service->event;
	int err = start_namer(a);

	if (err < 0)
		return err;
	a->spare_fd = open_spare();
	err = wv_timer_add(event, WV_PRIORITY_TIMERS, 0, on_pause_over, a, &a->pause_timer);
	if (!err)
		err = sd_event_add_io(event, &a->listen_source, a->listen_fd, EPOLLIN,
				      on_connection, a);
	if (err >= 0)
		err = sd_event_add_defer(event, &a->newcomers_source, on_clients_served, a);
	return err < 0 ? err
		       : sd_event_source_set_priority(a->newcomers_source, WV_PRIORITY_CLIENTS);
}

void wv_accept_stop(struct wv_acceptor *a)
{
	a->listen_source = sd_event_source_disable_unref(a->listen_source);
	a->newcomers_source = sd_event_source_disable_unref(a->newcomers_source);
	a->pause_timer = sd_event_source_disable_unref(a->pause_timer);
	wv_namer_stop(&a->namer);
	wv_close_fd(&a->spare_fd);
}
