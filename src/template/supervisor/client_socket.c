/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/client_socket.h"

#include "base/base.h"
#include "base/message.h"
#include "base/stale_socket.h"
#include "template/start.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

#define TRY_US	   10000
#define MOST_TRIES 100
#define ACCEPT_US  1000

/* The children of a supervisor that was killed may have to end first. */
static int bind_alone(int sock, const struct sockaddr_un *address)
{
	for (int tries = 0;; tries++) {
		wv_stale_socket_clear(
		    address); /* of which there can be no other owner: see the note */
		if (!bind(sock, (const struct sockaddr *)address, sizeof(*address)))
			return 0;
		if (errno != EADDRINUSE || tries == MOST_TRIES)
			return -errno;
		usleep(TRY_US);
	}
}

int wv_client_socket_bind(struct wv_client_socket *s, const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err = wv_note_take(&s->note, path);

	s->fd = -1;
	if (err)
		return err;
	wv_copy_string(s->path, sizeof(s->path), s->note.path);
	s->path[strlen(s->path) - strlen(WV_NOTE_SUFFIX)] = '\0';
	if (!wv_copy_string(address.sun_path, sizeof(address.sun_path), path))
		return -ENAMETOOLONG;
	s->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	err = s->fd < 0 ? -errno : bind_alone(s->fd, &address);
	if (err)
		wv_close_fd(&s->fd);
	return err;
}

int wv_client_socket_open(const struct wv_client_socket *s)
{
	return listen(s->fd, SOMAXCONN) ? -errno : 0;
}

/*
 * A child that nobody knows of, because its maker was killed before it could tell, may be faster.
 * Children share the socket: of those that accept already, none is hurried; while clients are
 * refused, no other is known.
 */
static int accept_soon(int fd)
{
	const struct timeval soon = {.tv_usec = ACCEPT_US}, never = {0};
	int client;

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon));
	client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &never, sizeof(never));
	return client;
}

static int on_client(sd_event_source *source, int fd, uint32_t events, void *data)
{
	wv_auto_fd client = accept_soon(fd);
	struct wv_start_answer answer = {.word = WV_START_REFUSED};

	(void)source;
	(void)events;
	(void)data;
	if (client < 0)
		return 0;
	wv_because(&answer.why, "the template cannot fork: too many processes or descriptors, or "
				"no memory");
	wv_send(client, &answer, sizeof(answer), NULL, 0, NULL, 0);
	return 0;
}

int wv_client_socket_watch(struct wv_client_socket *s, sd_event *event)
{
	int err = sd_event_add_io(event, &s->refusals, s->fd, EPOLLIN, on_client, NULL);

	return err < 0 ? err : sd_event_source_set_enabled(s->refusals, SD_EVENT_OFF);
}

void wv_client_socket_refuse(const struct wv_client_socket *s, bool are_refused)
{
	if (s->refusals)
		sd_event_source_set_enabled(s->refusals, are_refused ? SD_EVENT_ON : SD_EVENT_OFF);
}

void wv_client_socket_close(struct wv_client_socket *s, const char *reason)
{
	s->refusals = sd_event_source_disable_unref(s->refusals);
	if (s->fd >= 0) {
		unlink(s->path);
		shutdown(s->fd, SHUT_RDWR);
		wv_close_fd(&s->fd);
	}
	wv_note_give(&s->note, reason);
}
