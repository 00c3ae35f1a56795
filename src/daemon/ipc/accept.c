/*
 * New connections: limits, and what to do when descriptors run out.
 */
#include "base/base.h"
#include "daemon/ipc/client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>

#define PAUSE_US	100000
#define ACCEPTS_AT_ONCE 16

static int peer_uid(int fd, uid_t *uid)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes))
		return -errno;
	*uid = peer.uid;
	return 0;
}

static bool is_over_limit(const struct wv_server *s, const struct wv_user *user)
{
	return s->n_clients >= s->max_clients || user->n_clients >= WV_MAX_CLIENTS_PER_USER;
}

/* @fd becomes the client's, or is closed. */
static void admit(struct wv_server *s, int fd)
{
	struct wv_user *user;
	uid_t uid = 0;

	if (peer_uid(fd, &uid) || !(user = wv_catalog_user(&s->catalog, uid, true))) {
		close(fd);
		return;
	}
	s->tally.accepted++;
	if (is_over_limit(s, user)) {
		s->tally.over_limit++;
		close(fd);
		wv_catalog_tidy_user(user);
		return;
	}
	wv_client_start(s, fd, user);
}

static int open_spare(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/*
 * No descriptor is left. The one kept for this is given up for a moment, to turn the client away at
 * once: it goes on plainly instead of waiting.
 */
static void turn_away(struct wv_server *s)
{
	int fd;

	if (wv_log_allowed(&s->descriptors_limit, wv_now(s)))
		wv_log(WV_WARNING,
		       "out of descriptors with %u clients: raise LimitNOFILE=, or lower "
		       "--max-leases",
		       s->n_clients);
	wv_close_fd(&s->spare_fd);
	fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	wv_close_fd(&fd);
	s->spare_fd = open_spare();
	s->tally.over_limit++;
	/* Others may be short of descriptors, too: let some time pass. */
	sd_event_source_set_enabled(s->listen_source, SD_EVENT_OFF);
	sd_event_source_set_time(s->pause_source, (uint64_t)(wv_now(s) + PAUSE_US));
	sd_event_source_set_enabled(s->pause_source, SD_EVENT_ONESHOT);
}

static void on_no_connection(struct wv_server *s, int err)
{
	if (err == EMFILE || err == ENFILE || err == ENOMEM || err == ENOBUFS)
		turn_away(s);
	else if (err != EAGAIN && err != EINTR && err != ECONNABORTED)
		wv_log(WV_WARNING, "cannot accept a connection: %s", strerror(err));
}

/* Programs that start together are served in one go. */
static int on_connection(sd_event_source *source, int listen_fd, uint32_t events, void *data)
{
	struct wv_server *s = data;

	(void)source;
	(void)events;
	for (unsigned int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0) {
			on_no_connection(s, errno);
			break;
		}
		admit(s, fd);
	}
	return 0;
}

static int on_pause_over(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_server *s = data;

	(void)source;
	(void)now;
	sd_event_source_set_enabled(s->listen_source, SD_EVENT_ON);
	return 0;
}

/* Clients are in the order of their connection, newest first, so all of them are looked at. */
static int on_silence(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_server *s = data;
	struct wv_client *c = LIST_FIRST(&s->clients), *next;
	int64_t oldest = INT64_MAX;

	(void)now;
	for (; c; c = next) {
		next = LIST_NEXT(c, link);
		if (c->state != WV_CLIENT_NEW)
			continue;
		if (c->since_us + WV_FIRST_MESSAGE_US <= wv_now(s)) {
			s->tally.silent++;
			wv_client_close(c);
		} else if (c->since_us < oldest) {
			oldest = c->since_us;
		}
	}
	if (oldest == INT64_MAX)
		return 0;
	sd_event_source_set_time(source, (uint64_t)(oldest + WV_FIRST_MESSAGE_US));
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int add_timer(struct wv_server *s, sd_event_source **source, sd_event_time_handler_t handler)
{
	int err = sd_event_add_time(s->event, source, CLOCK_MONOTONIC, 0, 0, handler, s);

	if (err < 0)
		return err;
	sd_event_source_set_priority(*source, WV_PRIORITY_TIMERS);
	return sd_event_source_set_enabled(*source, SD_EVENT_OFF);
}

int wv_accept_start(struct wv_server *s)
{
	int err;

	s->spare_fd = open_spare();
	err = add_timer(s, &s->pause_source, on_pause_over);
	if (err >= 0)
		err = add_timer(s, &s->silence_source, on_silence);
	if (err >= 0)
		err = sd_event_add_io(s->event, &s->listen_source, s->listen_fd, EPOLLIN,
				      on_connection, s);
	return err < 0 ? err : sd_event_source_set_priority(s->listen_source, WV_PRIORITY_CLIENTS);
}

void wv_accept_stop(struct wv_server *s)
{
	struct wv_client *c;

	s->listen_source = sd_event_source_disable_unref(s->listen_source);
	while ((c = LIST_FIRST(&s->clients))) {
		c->state = WV_CLIENT_DONE; /* the end is ours, so no report is missed */
		wv_client_close(c);
	}
	s->silence_source = sd_event_source_disable_unref(s->silence_source);
	s->pause_source = sd_event_source_disable_unref(s->pause_source);
	wv_close_fd(&s->spare_fd);
	s->spare_fd = -1;
}
