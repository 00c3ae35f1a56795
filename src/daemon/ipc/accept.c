/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/accept.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#define PAUSE_US	 100000
#define ACCEPTS_AT_ONCE	 16
#define LEAVERS_AT_ONCE	 16
#define MESSAGES_AT_ONCE 4

/* Stands for clients of whom nothing is known. */
static const struct wv_tenant nobody = {.uid = (uid_t)-1};

static bool has_room(struct wv_acceptor *a, const struct wv_tenant *tenant)
{
	const struct wv_service *s = a->connections->service;
	unsigned int own = tenant->clients ? tenant->clients->n : 0;

	return own < WV_MAX_CLIENTS_PER_TENANT &&
	       own < wv_share_limit(a->max_clients, s->n_clients - own) &&
	       s->n_clients < a->max_clients;
}

/*
 * Administrators are let in even while closing is held up: they are trusted not to add to it, and
 * it is then that they ask.
 */
static bool may_enter(struct wv_acceptor *a, struct wv_tenant *tenant, bool administrator)
{
	if (!administrator && wv_closer_is_held_up(a->connections->service->closer, tenant))
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
	const int on = 1, off = 0;
	enum waiting next = DESCRIPTORS;

	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)))
		return false;
	for (int i = 0; i < MESSAGES_AT_ONCE && (next = look_at_next(fd)) == BYTES; i++)
		recv(fd, NULL, 0, MSG_DONTWAIT);
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &off, sizeof(off));
	return next == NOTHING;
}

/*
 * Whether the client has closed its end already, and has sent nothing: for whoever connects and
 * leaves, the daemon does no more than this.
 */
static bool has_left(int fd)
{
	struct pollfd end = {.fd = fd};
	char first;

	return poll(&end, 1, 0) == 1 && end.revents & POLLHUP &&
	       !recv(fd, &first, sizeof(first), MSG_PEEK | MSG_DONTWAIT) &&
	       is_free_of_descriptors(fd);
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
static void admit_as(struct wv_acceptor *a, int fd, struct wv_user *user, struct wv_tenant *tenant,
		     bool administrator)
{
	struct wv_catalog *catalog = a->connections->service->catalog;

	user->n_clients++; /* a user with neither clients nor recipes is forgotten */
	wv_doors_add(&a->doors, user);
	if (may_enter(a, tenant, administrator))
		wv_connection_start(a->connections, fd, user, tenant, administrator);
	else
		turn_away(a, tenant, fd);
	user->n_clients--;
	wv_catalog_tidy_user(catalog, user);
}

static void admit(struct wv_acceptor *a, int fd, uid_t uid, uint64_t container, bool administrator)
{
	struct wv_catalog *catalog = a->connections->service->catalog;
	struct wv_user *user = wv_catalog_user(catalog, uid, true);
	struct wv_tenant *tenant = wv_tenant_get(a->tenants, uid, container);

	if (user && tenant)
		admit_as(a, fd, user, tenant, administrator);
	else
		turn_away(a, &nobody, fd);
	wv_tenant_put(tenant);
}

/* Called by the namer. */
static void on_named(void *data, int fd, uid_t uid, uint64_t container)
{
	admit(data, fd, uid, container, false);
}

static void find_container(struct wv_acceptor *a, int fd, const struct ucred *peer)
{
	const struct wv_tenant user = {
	    .uid = wv_subordinate_owner(&a->tenants->subordinates, peer->uid)};

	if (!wv_namer_give(&a->namer, fd, user.uid, peer))
		turn_away(a, &user, fd);
}

static void on_accepted(struct wv_acceptor *a, int fd, bool administrator)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		turn_away(a, &nobody, fd);
	else if (administrator || !a->per_container)
		admit(a, fd, peer.uid, 0, administrator);
	else
		find_container(a, fd, &peer);
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* The whole system may be short of descriptors, and closers may be at work: lets some time pass. */
static void pause_accepting(struct wv_acceptor *a)
{
	struct wv_service *s = a->connections->service;

	wv_doors_let_in(&a->doors, false);
	wv_timer_arm(a->pause_timer, wv_now(s->event) + PAUSE_US);
}

/* No descriptor is left. The spare one is freed for a moment, to turn the client away at once. */
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
 * The next client that waits for an answer, after @leavers at most that do not; -1: there is none
 * for now.
 */
static int next_client(struct wv_acceptor *a, int listen_fd, unsigned int *leavers)
{
	for (; *leavers; --*leavers) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			on_no_connection(a, errno);
			return -1;
		}
		a->connections->service->tally.accepted++;
		if (!has_left(fd))
			return fd;
		close(fd);
	}
	return -1;
}

/* Called by the doors. Programs that start together are served in one iteration of the loop. */
static void on_knock(void *data, int listen_fd, bool administrator)
{
	struct wv_acceptor *a = data;
	unsigned int leavers = LEAVERS_AT_ONCE;

	/* A user who is forgotten takes a door along, which may be this one. */
	for (unsigned int i = 0; i < ACCEPTS_AT_ONCE && a->doors.answered; i++) {
		int fd = next_client(a, listen_fd, &leavers);

		if (fd < 0)
			break;
		on_accepted(a, fd, administrator);
	}
	wv_connections_serve(a->connections);
}

static int on_pause_over(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_acceptor *a = data;

	(void)source;
	(void)now;
	/* The client that was turned away has its number until a closer has closed it. */
	if (a->spare_fd < 0)
		a->spare_fd = open_spare();
	wv_doors_let_in(&a->doors, true);
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
	    .workers = a->connections->service->workers,
	    .named = on_named,
	    .settled = serve_named,
	    .arg = a,
	};
	return wv_namer_start(&a->namer);
}

/* Of users who had recipes before the daemon started. */
static void open_doors(struct wv_acceptor *a)
{
	struct wv_user *user;

	wv_each_user (a->connections->service->catalog, user)
		wv_doors_add(&a->doors, user);
}

int wv_accept_start(struct wv_acceptor *a)
{
	int err = start_namer(a);

	if (err < 0)
		return err;
	a->spare_fd = open_spare();
	a->doors.knock = on_knock;
	a->doors.arg = a;
	err =
	    wv_timer_add(a->doors.event, WV_PRIORITY_TIMERS, 0, on_pause_over, a, &a->pause_timer);
	if (!err)
		err = wv_doors_start(&a->doors, a->listen_fd, a->admin_fd);
	if (err < 0)
		return err;
	open_doors(a);
	return 0;
}

void wv_accept_stop(struct wv_acceptor *a)
{
	wv_doors_stop(&a->doors);
	a->pause_timer = sd_event_source_disable_unref(a->pause_timer);
	wv_namer_stop(&a->namer);
	wv_close_fd(&a->spare_fd);
}
