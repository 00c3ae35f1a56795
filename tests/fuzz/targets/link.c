/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connection with another node's daemon, which sends the input: the first byte of it says how
 * long the pieces are in which it arrives. TLS has no part in this.
 */
#include "fuzz.h"

#include "daemon/loop/loop.h"
#include "daemon/peers/link.h"

#include <errno.h>
#include <sys/socket.h>

static const uint8_t *input;
static size_t left, piece;
static bool has_ended, has_opened;
static unsigned int n_messages;

int __wrap_SSL_do_handshake(SSL *tls)
{
	(void)tls;
	return 1;
}

int __wrap_SSL_read(SSL *tls, void *to, int room)
{
	size_t bytes = left < piece ? left : piece;

	(void)tls;
	assert_true(room > 0);
	bytes = bytes < (size_t)room ? bytes : (size_t)room;
	memcpy(to, input, bytes);
	input += bytes;
	left -= bytes;
	return bytes ? (int)bytes : -1;
}

int __wrap_SSL_pending(const SSL *tls)
{
	(void)tls;
	return (int)left;
}

/* The other side does not always read. */
int __wrap_SSL_write(SSL *tls, const void *from, int bytes)
{
	static unsigned int n;

	(void)tls;
	assert_non_null(from);
	return ++n % 4 ? bytes : -1;
}

int __wrap_SSL_shutdown(SSL *tls)
{
	(void)tls;
	return 1;
}

enum wv_tls_outcome __wrap_wv_tls_outcome(const SSL *tls, int result, char why[static WV_TLS_WHY])
{
	(void)tls;
	assert_true(result <= 0);
	strcpy(why, "the end");
	return left ? WV_TLS_WRITE : WV_TLS_CLOSED;
}

static bool on_proved(struct wv_link *link)
{
	assert_int_equal(link->phase, WV_LINK_HELLO);
	return true;
}

static void on_opened(struct wv_link *link)
{
	assert_false(has_opened);
	assert_int_equal(link->hello.version, WV_PEER_VERSION);
	has_opened = true;
}

static int on_message(struct wv_link *link, const struct wv_frame *frame)
{
	assert_true(has_opened && frame->length <= WV_FRAME_BODY);
	n_messages++;
	wv_link_send(link, frame->type, frame->body, frame->length);
	return frame->type % 16 == 15 ? -EPROTO : 0;
}

static void on_ended(struct wv_link *link)
{
	assert_int_equal(link->phase, WV_LINK_ENDED);
	for (const char *c = link->why; *c; c++)
		assert_true(*c >= ' ' && *c <= '~');
	has_ended = true;
}

static const struct wv_link_events events = {
    .proved = on_proved, .opened = on_opened, .message = on_message, .ended = on_ended};

static struct wv_link *start(sd_event *event, struct wv_allowance *total)
{
	struct wv_link *link = calloc(1, sizeof(*link));
	int fds[2];

	assert_non_null(link);
	link->event = event;
	link->events = &events;
	link->total = total;
	link->own.version = WV_PEER_VERSION;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	close(fds[1]);
	assert_int_equal(wv_link_start(link, fds[0], NULL), 0);
	return link;
}

/* What a link may use of the loop's time comes back with time, which is not waited for. */
static void serve(struct wv_link *link)
{
	for (unsigned int i = 0; i < 1000 && link->phase != WV_LINK_ENDED; i++) {
		link->allowance = (struct wv_allowance){0};
		*link->total = (struct wv_allowance){0};
		wv_link_poll(link);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct wv_allowance total = {0};
	sd_event *event = NULL;
	struct wv_link *link;

	if (!bytes)
		return 0;
	piece = *data ? *data : 8192;
	input = data + 1;
	left = bytes - 1;
	n_messages = 0;
	has_ended = has_opened = false;
	assert_int_equal(sd_event_new(&event), 0);
	link = start(event, &total);
	serve(link);
	assert_true(n_messages <= bytes / WV_FRAME_HEAD);
	assert_true(link->phase == WV_LINK_ENDED || left || !has_ended);
	while (link->phase == WV_LINK_ENDED && !has_ended)
		assert_true(wv_loop_turn(event, 1000000) >= 0);
	wv_link_free(link);
	sd_event_unref(event);
	return 0;
}
