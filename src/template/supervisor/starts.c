/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/starts.h"

#include "base/base.h"
#include "template/start.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>

struct start {
	pid_t pid;
	sd_event_source *connection; /* owns the descriptor */
	LIST_ENTRY(start) of_all;
};

struct wv_starts {
	sd_event *event;
	LIST_HEAD(, start) all;
	uint32_t n;
};

int wv_starts_new(sd_event *event, struct wv_starts **starts)
{
	*starts = calloc(1, sizeof(**starts));
	if (!*starts)
		return -ENOMEM;
	(*starts)->event = event;
	return 0;
}

static void forget(struct wv_starts *starts, struct start *s)
{
	LIST_REMOVE(s, of_all);
	starts->n--;
	sd_event_source_disable_unref(s->connection);
	free(s);
}

void wv_starts_free(struct wv_starts *starts)
{
	struct start *s;

	while (starts && (s = LIST_FIRST(&starts->all)))
		forget(starts, s);
	free(starts);
}

/* A client says nothing more: it has ended. The child is reaped like any other. */
static int client_has_gone(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct start *s = data;

	(void)fd;
	(void)events;
	kill(s->pid, SIGKILL);
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

int wv_starts_add(struct wv_starts *starts, pid_t pid, int connection)
{
	struct start *s = calloc(1, sizeof(*s));
	int err = s ? sd_event_add_io(starts->event, &s->connection, connection, EPOLLIN,
				      client_has_gone, s)
		    : -ENOMEM;

	if (err < 0) {
		free(s);
		close(connection);
		return err;
	}
	sd_event_source_set_io_fd_own(s->connection, true);
	s->pid = pid;
	LIST_INSERT_HEAD(&starts->all, s, of_all);
	starts->n++;
	return 0;
}

static void report(struct wv_starts *starts, struct start *s, int status)
{
	const struct wv_start_answer answer = {.word = WV_START_ENDED, .value = status};

	send(sd_event_source_get_io_fd(s->connection), &answer, sizeof(answer),
	     MSG_NOSIGNAL | MSG_DONTWAIT);
	forget(starts, s);
}

bool wv_starts_end(struct wv_starts *starts, pid_t pid, int status)
{
	struct start *s;

	LIST_FOREACH (s, &starts->all, of_all)
		if (s->pid == pid) {
			report(starts, s, status);
			return true;
		}
	return false;
}

uint32_t wv_starts_number(const struct wv_starts *starts)
{
	return starts->n;
}
