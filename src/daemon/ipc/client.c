#include "daemon/ipc/client.h"

#include "base/base.h"

#include <errno.h>
#include <string.h>

typedef enum wv_client_next (*handler_fn)(struct wv_client *c, const struct wv_received *in);

/*
 * What may be said when. A client has no more than one thing to say at a time, so it cannot pile
 * work up; all else is malformed.
 */
static const struct {
	enum wv_client_state state;
	enum wv_msg_type type;
	unsigned int n_fds;
	handler_fn handle;
} expected[] = {
    {WV_CLIENT_NEW, WV_MSG_REQUEST, 1, wv_handle_request},
    {WV_CLIENT_NEW, WV_MSG_CONTROL, 0, wv_handle_control},
    {WV_CLIENT_RECORDING, WV_MSG_RECORD, 0, wv_handle_record},
    {WV_CLIENT_LEASED, WV_MSG_REPORT, 0, wv_handle_report},
    {WV_CLIENT_NEW, WV_MSG_POOL, 0, wv_handle_pool},
    {WV_CLIENT_POOL, WV_MSG_POOL, 0, wv_handle_pool},
};

void wv_client_close(struct wv_client *c)
{
	struct wv_server *s = c->server;

	if (c->state == WV_CLIENT_LEASED)
		wv_handle_no_report(c);
	wv_pool_request_end(c);
	sd_event_source_disable_unref(c->source);
	close(c->fd);
	LIST_REMOVE(c, link);
	s->n_clients--;
	c->user->n_clients--;
	wv_catalog_tidy_user(c->user);
	free(c);
}

static enum wv_client_next dispatch(struct wv_client *c, const struct wv_received *in, size_t bytes)
{
	int type = wv_msg_check(in->msg, bytes);

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(expected); i++)
		if (expected[i].state == c->state && (int)expected[i].type == type &&
		    expected[i].n_fds == in->n_fds)
			return expected[i].handle(c, in);
	return WV_CLIENT_MALFORMED;
}

static void note_malformed(struct wv_client *c)
{
	struct wv_server *s = c->server;

	s->tally.malformed++;
	if (wv_log_allowed(&s->malformed_limit, wv_now(s)))
		wv_log(WV_NOTICE,
		       "a client of user %u broke the protocol and was disconnected: its "
		       "libwarmverbs may be of another version",
		       c->user->uid);
}

static enum wv_client_next receive(struct wv_client *c)
{
	struct wv_server *s = c->server;
	int fds[WV_WIRE_MAX_FDS];
	struct wv_received in = {.msg = (struct wv_msg *)s->message, .fds = fds};
	ssize_t got = wv_recv(c->fd, s->message, WV_WIRE_MAX, fds, WV_WIRE_MAX_FDS, &in.n_fds);
	enum wv_client_next next;

	if (got == -EAGAIN || got == -EINTR)
		return WV_CLIENT_KEEP;
	if (got == -EPROTO)
		return WV_CLIENT_MALFORMED;
	next = got > 0 ? dispatch(c, &in, (size_t)got) : WV_CLIENT_CLOSE;
	for (unsigned int i = 0; i < in.n_fds; i++)
		close(fds[i]);
	return next;
}

/* Reads one message. The client may be gone afterwards; 1 if it stays. */
static int serve(struct wv_client *c)
{
	enum wv_client_next next = receive(c);

	if (next == WV_CLIENT_KEEP)
		return 1;
	if (next == WV_CLIENT_MALFORMED) {
		note_malformed(c);
		c->state = WV_CLIENT_DONE; /* no report is missed of it */
	}
	wv_client_close(c);
	return 0;
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *data)
{
	(void)source;
	(void)fd;
	(void)events;
	serve(data);
	return 0;
}

static int arm_silence_timer(struct wv_server *s)
{
	uint64_t due = (uint64_t)(wv_now(s) + WV_FIRST_MESSAGE_US);
	int enabled;

	sd_event_source_get_enabled(s->silence_source, &enabled);
	if (enabled != SD_EVENT_OFF)
		return 0;
	sd_event_source_set_time(s->silence_source, due);
	return sd_event_source_set_enabled(s->silence_source, SD_EVENT_ONESHOT);
}

/*
 * The first message is there already when a program connects and sends in one go; so it is read
 * before the connection joins the loop, which most connections never need to.
 */
static void start(struct wv_client *c)
{
	struct wv_server *s = c->server;
	int err;

	if (!serve(c))
		return;
	err = sd_event_add_io(s->event, &c->source, c->fd, EPOLLIN, on_readable, c);
	if (err < 0) {
		wv_log(WV_WARNING, "cannot serve a client: %s", strerror(-err));
		wv_client_close(c);
		return;
	}
	sd_event_source_set_priority(c->source, WV_PRIORITY_CLIENTS);
	if (c->state == WV_CLIENT_NEW)
		arm_silence_timer(s);
}

void wv_client_start(struct wv_server *s, int fd, struct wv_user *user)
{
	struct wv_client *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		wv_catalog_tidy_user(user);
		return;
	}
	c->server = s;
	c->fd = fd;
	c->user = user;
	c->since_us = wv_now(s);
	user->n_clients++;
	s->n_clients++;
	LIST_INSERT_HEAD(&s->clients, c, link);
	start(c);
}
