/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/link.h"

#include "base/base.h"
#include "daemon/loop/loop.h"

#include <errno.h>
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>

#define FRAME_US      10 /* that a frame counts at least */
#define READS_AT_ONCE 4
#define ACCURACY_US   1000

const struct wv_allowance_rate wv_link_rate = {.share_us = 50000, .most_us = 20000};
const struct wv_allowance_rate wv_links_rate = {.share_us = 200000, .most_us = 50000};

static int64_t pause_us(struct wv_link *link)
{
	int64_t now_us = wv_steady_clock();
	int64_t own = wv_allowance_wait(&link->allowance, &wv_link_rate, now_us);
	int64_t all = wv_allowance_wait(link->total, &wv_links_rate, now_us);

	return own > all ? own : all;
}

/* Waits for what the link needs next; @pause: before that time it only sends what is queued. */
static void listen_again(struct wv_link *link, int64_t pause)
{
	bool writes = (link->phase >= WV_LINK_HELLO && wv_outbox_waiting(&link->out)) ||
		      (!pause && (link->phase == WV_LINK_CONNECTING || link->wants_write));
	bool reads = !pause && link->phase != WV_LINK_CONNECTING;
	uint32_t events = (reads ? EPOLLIN : 0) | (writes ? EPOLLOUT : 0);

	if (pause)
		wv_timer_arm(link->resume, wv_steady_clock() + pause);
	sd_event_source_set_io_events(link->io, events);
	/* Without events the end of the connection would be told again and again. */
	sd_event_source_set_enabled(link->io, events ? SD_EVENT_ON : SD_EVENT_OFF);
}

/* Tells the other side why the connection ends, if that is possible at once. */
static void say_goodbye(struct wv_link *link)
{
	uint8_t frame[WV_FRAME_HEAD + WV_TLS_WHY];
	size_t length = strlen(link->why);

	if (link->phase < WV_LINK_HELLO || wv_outbox_waiting(&link->out) || link->wants_write)
		return;
	wv_frame_write(frame, WV_FRAME_GOODBYE, link->why, length);
	ERR_clear_error();
	if (SSL_write(link->tls, frame, (int)(WV_FRAME_HEAD + length)) > 0)
		SSL_shutdown(link->tls);
}

void wv_link_end(struct wv_link *link, bool refused, const char *format, ...)
{
	va_list args;

	if (link->phase == WV_LINK_ENDED)
		return;
	va_start(args, format);
	vsnprintf(link->why, sizeof(link->why), format, args);
	va_end(args);
	link->refused = refused;
	say_goodbye(link);
	link->phase = WV_LINK_ENDED;
	sd_event_source_set_enabled(link->io, SD_EVENT_OFF);
	sd_event_source_set_enabled(link->resume, SD_EVENT_OFF);
	wv_timer_arm(link->tick, wv_steady_clock());
}

/* Sent by the loop, with whatever else is queued until then. */
static void want_to_write(struct wv_link *link)
{
	uint32_t events = 0;

	sd_event_source_get_io_events(link->io, &events);
	sd_event_source_set_io_events(link->io, events | EPOLLOUT);
	sd_event_source_set_enabled(link->io, SD_EVENT_ON);
}

static int enqueue(struct wv_link *link, uint16_t type, const void *body, size_t length)
{
	bool first = !wv_outbox_waiting(&link->out);
	uint8_t *to = wv_outbox_add(&link->out, WV_FRAME_HEAD + length);

	if (!to) {
		wv_link_end(link, false, "the peer does not read: %zu bytes wait to be sent",
			    wv_outbox_waiting(&link->out));
		return -ENOBUFS;
	}
	wv_frame_write(to, type, body, length);
	if (first)
		want_to_write(link);
	return 0;
}

int wv_link_send(struct wv_link *link, uint16_t type, const void *body, size_t length)
{
	if (length > WV_FRAME_BODY)
		return -EMSGSIZE;
	return link->phase == WV_LINK_OPEN ? enqueue(link, type, body, length) : -ENOTCONN;
}

/* A call of OpenSSL's did not go on: waits for what it needs, or ends the link. */
static void stalled(struct wv_link *link, int result)
{
	char why[WV_TLS_WHY];
	enum wv_tls_outcome outcome = wv_tls_outcome(link->tls, result, why);

	if (outcome == WV_TLS_WRITE)
		link->wants_write = true;
	else if (outcome == WV_TLS_CLOSED && link->phase != WV_LINK_OPEN)
		wv_link_end(link, false,
			    "%s before the peer's hello: is this node among its peers?", why);
	else if (outcome != WV_TLS_READ)
		wv_link_end(link, outcome == WV_TLS_REFUSED, "%s", why);
}

static void flush(struct wv_link *link)
{
	size_t bytes;

	while ((bytes = wv_outbox_waiting(&link->out)) && link->phase != WV_LINK_ENDED) {
		int sent;

		ERR_clear_error();
		errno = 0;
		sent = SSL_write(link->tls, link->out.bytes + link->out.start, (int)bytes);
		if (sent <= 0) {
			stalled(link, sent);
			return;
		}
		wv_outbox_sent(&link->out, (size_t)sent);
	}
}

static int on_pong(struct wv_link *link, const struct wv_frame *frame)
{
	if (frame->length == sizeof(link->ping) && link->pinged_us &&
	    !memcmp(frame->body, &link->ping, sizeof(link->ping))) {
		link->round_trip_us = wv_steady_clock() - link->pinged_us ?: 1;
		link->pinged_us = 0;
	}
	return 0;
}

static void on_hello(struct wv_link *link, const struct wv_frame *frame)
{
	int err = wv_hello_read(frame, &link->hello);

	if (err == -EPROTONOSUPPORT)
		wv_link_end(link, true,
			    "the peer speaks version %u of the protocol, this node version %u: run "
			    "the same warmverbs on both",
			    link->hello.version, link->own.version);
	else if (err)
		wv_link_end(link, true, "what the peer sent first is no hello of a warmverbsd");
	if (err)
		return;
	link->phase = WV_LINK_OPEN;
	wv_timer_arm(link->tick, wv_steady_clock());
	link->events->opened(link);
}

static void on_goodbye(struct wv_link *link, const struct wv_frame *frame)
{
	char text[WV_TLS_WHY / 2];

	wv_goodbye_read(frame, text, sizeof(text));
	wv_link_end(link, link->phase == WV_LINK_HELLO, "the other side says: %s", text);
}

static void dispatch(struct wv_link *link, const struct wv_frame *frame)
{
	int err = -EPROTO;

	if (frame->type == WV_FRAME_GOODBYE) {
		on_goodbye(link, frame);
		return;
	}
	if (link->phase != WV_LINK_OPEN) {
		on_hello(link, frame);
		return;
	}
	if (frame->type == WV_FRAME_PING && frame->length == sizeof(link->ping))
		err = enqueue(link, WV_FRAME_PONG, frame->body, frame->length);
	else if (frame->type == WV_FRAME_PONG)
		err = on_pong(link, frame);
	else if (frame->type >= WV_FRAME_FIRST_MESSAGE)
		err = link->events->message(link, frame);
	if (err == -EPROTO)
		wv_link_end(link, true, "a message of type %u and %zu bytes broke the protocol",
			    frame->type, frame->length);
}

/* Dispatches the frames that are there, as long as it may. True: more are there. */
static bool dispatch_all(struct wv_link *link)
{
	size_t done = 0;
	int took = 0;
	struct wv_frame frame;

	while (link->phase != WV_LINK_ENDED && link->allowance.left_us > 0) {
		took = wv_frame_parse(link->in + done, link->in_bytes - done, &frame);
		if (took <= 0)
			break;
		done += (size_t)took;
		wv_allowance_charge(&link->allowance, FRAME_US);
		wv_allowance_charge(link->total, FRAME_US);
		dispatch(link, &frame);
	}
	if (took < 0)
		wv_link_end(link, true, "a message was longer than %u bytes", WV_FRAME_BODY);
	link->in_bytes -= done;
	memmove(link->in, link->in + done, link->in_bytes);
	return took > 0;
}

/* Reads a little. True: more is there. */
static bool read_some(struct wv_link *link)
{
	bool more = dispatch_all(link); /* what was put off */
	int got;

	for (int i = 0; i < READS_AT_ONCE && !more && link->phase != WV_LINK_ENDED; i++) {
		ERR_clear_error();
		errno = 0;
		got = SSL_read(link->tls, link->in + link->in_bytes,
			       (int)(sizeof(link->in) - link->in_bytes));
		if (got <= 0) {
			stalled(link, got);
			break;
		}
		link->heard_us = wv_steady_clock();
		link->in_bytes += (size_t)got;
		more = dispatch_all(link);
	}
	return link->phase != WV_LINK_ENDED && (more || SSL_pending(link->tls));
}

static void shake_hands(struct wv_link *link)
{
	uint8_t hello[WV_HELLO_BYTES];
	int result;

	ERR_clear_error();
	errno = 0;
	result = SSL_do_handshake(link->tls);
	if (result != 1) {
		stalled(link, result);
		return;
	}
	link->phase = WV_LINK_HELLO;
	if (!link->events->proved(link))
		return;
	link->own.up_us = (uint64_t)wv_up_clock();
	wv_hello_write(hello, &link->own);
	enqueue(link, WV_FRAME_HELLO, hello, sizeof(hello));
}

static void finish_connecting(struct wv_link *link)
{
	int error = 0;
	socklen_t bytes = sizeof(error);

	if (getsockopt(link->fd, SOL_SOCKET, SO_ERROR, &error, &bytes))
		error = errno;
	if (error)
		wv_link_end(link, false, "%s", strerror(error));
	else
		link->phase = WV_LINK_HANDSHAKE;
}

/* Goes on as far as possible. True: more is there to be read. */
static bool advance(struct wv_link *link)
{
	bool more = false;

	if (link->phase == WV_LINK_CONNECTING)
		finish_connecting(link);
	if (link->phase == WV_LINK_HANDSHAKE)
		shake_hands(link);
	if (link->phase == WV_LINK_HELLO || link->phase == WV_LINK_OPEN) {
		flush(link);
		if (link->phase != WV_LINK_ENDED)
			more = read_some(link);
	}
	return more;
}

static int serve(struct wv_link *link)
{
	int64_t pause = pause_us(link);
	int64_t start_us = wv_cpu_clock();
	bool more = false;

	if (link->phase == WV_LINK_ENDED)
		return 0;
	link->wants_write = false; /* what follows finds out anew */
	if (!pause)
		more = advance(link);
	else if (link->phase >= WV_LINK_HELLO)
		flush(link);
	wv_allowance_charge(&link->allowance, wv_cpu_clock() - start_us);
	wv_allowance_charge(link->total, wv_cpu_clock() - start_us);
	if (link->phase == WV_LINK_ENDED)
		return 0;
	pause = pause_us(link);
	listen_again(link, pause ? pause : more);
	return 0;
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	(void)source;
	(void)fd;
	(void)events;
	return serve(data);
}

static int on_resume(sd_event_source *source, uint64_t now, void *data)
{
	(void)source;
	(void)now;
	return serve(data);
}

void wv_link_poll(struct wv_link *link)
{
	if (link->phase != WV_LINK_CONNECTING)
		serve(link);
}

static void tick_open(struct wv_link *link, int64_t now_us)
{
	if (now_us - link->heard_us > WV_LINK_SILENCE_US) {
		wv_link_end(link, false, "nothing was heard of it for %lld s",
			    (long long)(now_us - link->heard_us) / 1000000);
		return;
	}
	link->ping++;
	link->pinged_us = now_us;
	if (!enqueue(link, WV_FRAME_PING, &link->ping, sizeof(link->ping)))
		wv_timer_arm(link->tick, now_us + WV_LINK_PING_US);
}

static int on_tick(sd_event_source *source, uint64_t now, void *data)
{
	struct wv_link *link = data;

	(void)source;
	(void)now;
	if (link->phase == WV_LINK_ENDED)
		link->events->ended(link);
	else if (link->phase == WV_LINK_OPEN)
		tick_open(link, wv_steady_clock());
	else
		wv_link_end(link, false, "no connection within %d s", WV_LINK_START_US / 1000000);
	return 0;
}

int wv_link_start(struct wv_link *link, int fd, SSL *tls)
{
	int err;

	link->fd = fd;
	link->tls = tls;
	link->heard_us = wv_steady_clock();
	link->phase = link->dialled ? WV_LINK_CONNECTING : WV_LINK_HANDSHAKE;
	err = sd_event_add_io(link->event, &link->io, fd, link->dialled ? EPOLLOUT : EPOLLIN, on_io,
			      link);
	if (err >= 0)
		err = sd_event_source_set_priority(link->io, WV_PRIORITY_PEERS);
	if (err >= 0)
		err = wv_timer_add(link->event, WV_PRIORITY_PEERS, ACCURACY_US, on_resume, link,
				   &link->resume);
	if (!err)
		err = wv_timer_add(link->event, WV_PRIORITY_OVERDUE, 10 * ACCURACY_US, on_tick,
				   link, &link->tick);
	if (!err)
		wv_timer_arm(link->tick, link->heard_us + WV_LINK_START_US);
	return err < 0 ? err : 0;
}

void wv_link_free(struct wv_link *link)
{
	if (!link)
		return;
	sd_event_source_disable_unref(link->io);
	sd_event_source_disable_unref(link->resume);
	sd_event_source_disable_unref(link->tick);
	SSL_free(link->tls);
	wv_close_fd(&link->fd);
	wv_outbox_clear(&link->out);
	free(link);
}
