/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/answering.h"

#include "base/backoff.h"
#include "base/base.h"
#include "service/daemon_socket.h"
#include "service/events.h"

#include <errno.h>
#include <poll.h>

/* Between attempts to reach a daemon that is gone. */
#define FIRST_PAUSE_MS	 100
#define LONGEST_PAUSE_MS 5000
#define ANSWER_MS	 1000

static void set_sock(struct wv_offer *offer, int sock)
{
	int old;

	pthread_mutex_lock(&offer->lock);
	old = offer->sock;
	offer->sock = sock;
	pthread_mutex_unlock(&offer->lock);
	wv_close_fd(&old);
}

/* Waits until @deadline for what the daemon says to the offer. 0 or -errno. */
static int hear_answer(const struct wv_offer *offer, int64_t deadline)
{
	struct wv_service_note note;
	int err = wv_service_await(offer->sock, deadline);

	if (!err)
		err = wv_service_hear(offer->sock, &note);
	if (err)
		return err;
	if (note.word == WV_SERVICE_REFUSED && note.error)
		return -note.error;
	return note.word == WV_SERVICE_OFFERED ? 0 : -EPROTO;
}

int wv_offer_tell(struct wv_offer *offer, int64_t deadline)
{
	int sock = wv_service_socket(), err;

	if (sock < 0)
		return sock;
	set_sock(offer, sock);
	err = wv_service_say(sock, &offer->note);
	if (!err)
		err = hear_answer(offer, deadline);
	if (err)
		set_sock(offer, -1);
	return err;
}

/* A queue pair in INIT, which is the caller's. */
static int take_qp(struct wv_offer *offer, struct ibv_qp **qp)
{
	if (!offer->n_qps)
		return wv_service_qp_new(&offer->shape, qp);
	*qp = offer->qps[--offer->n_qps];
	return 0;
}

/* An end of the connection that @ask is for, not connected yet; *@making tells the client of it. */
static int begin(struct wv_offer *offer, const struct wv_service_note *ask,
		 struct wv_service_port *port, struct wv_service_note *making,
		 struct wv_service_conn_end *end)
{
	union ibv_gid gid;
	int err;

	memcpy(&gid, ask->qp.gid, sizeof(gid));
	err = wv_service_port_aim(offer->shape.pd->context, &gid, port);
	if (!err)
		err = take_qp(offer, &end->public.qp);
	if (err)
		return err;
	wv_service_qp_describe(end->public.qp, &offer->shape, port, &making->qp);
	end->number = ask->from;
	end->offer = offer;
	return 0;
}

/* A busy daemon may not read at once. */
static int say(const struct wv_offer *offer, const struct wv_service_note *note)
{
	return wv_service_say_until(offer->sock, note, wv_service_deadline(ANSWER_MS));
}

static int tell(const struct wv_offer *offer, uint64_t number, enum wv_service_word word, int err)
{
	return say(offer, &(struct wv_service_note){
			      .word = (uint16_t)word, .number = number, .error = (uint16_t)-err});
}

static void hand_over(struct wv_offer *offer, struct wv_service_conn_end *end)
{
	pthread_mutex_lock(&offer->lock);
	LIST_INSERT_HEAD(&offer->conns, end, link);
	wv_offer_announce(offer, end, WV_SERVICE_CAME);
	pthread_mutex_unlock(&offer->lock);
}

static void drop(struct wv_service_conn_end *end)
{
	ibv_destroy_qp(end->public.qp);
	free(end);
}

/* Connects @end. The client is told before RTS, which is only needed to send. 0 or -errno. */
static int move(const struct wv_offer *offer, const struct wv_service_conn_end *end,
		const struct wv_service_port *port, const struct wv_service_qp *own,
		const struct wv_service_qp *peer)
{
	int err = wv_service_qp_rtr(end->public.qp, port, own, peer);

	if (err) {
		tell(offer, end->number, WV_SERVICE_REFUSED, err);
		return err;
	}
	err = tell(offer, end->number, WV_SERVICE_MADE, 0);
	if (err)
		return err;
	err = wv_service_qp_rts(end->public.qp, &offer->shape, own, peer);
	if (err)
		tell(offer, end->number, WV_SERVICE_GONE, 0);
	return err;
}

/* Connects an end, which becomes the program's, while the client connects its own. 0 or -errno. */
static int answer(struct wv_offer *offer, const struct wv_service_note *ask)
{
	struct wv_service_conn_end *end = calloc(1, sizeof(*end));
	struct wv_service_port port = offer->shape.port;
	struct wv_service_note making = offer->making;
	int err = end ? begin(offer, ask, &port, &making, end) : -ENOMEM;

	if (err) {
		free(end);
		return tell(offer, ask->from, WV_SERVICE_REFUSED, err);
	}
	making.number = ask->from;
	err = say(offer, &making);
	if (!err)
		err = move(offer, end, &port, &making.qp, &ask->qp);
	if (!err) {
		hand_over(offer, end);
		return 0;
	}
	drop(end);
	return err;
}

static struct wv_service_conn_end *find_conn(struct wv_offer *offer, uint64_t number)
{
	struct wv_service_conn_end *conn;

	LIST_FOREACH (conn, &offer->conns, link)
		if (conn->number == number)
			return conn;
	return NULL;
}

/* The client of connection @number has left; the program need not know of one that it never had. */
static void note_left(struct wv_offer *offer, uint64_t number)
{
	struct wv_service_conn_end *conn;
	struct ibv_qp *qp = NULL;

	pthread_mutex_lock(&offer->lock);
	conn = find_conn(offer, number);
	if (conn && conn->is_known && !conn->event) {
		wv_offer_announce(offer, conn, WV_SERVICE_LEFT);
	} else if (conn && !conn->is_known) {
		qp = conn->public.qp;
		wv_offer_forget(offer, conn);
	}
	pthread_mutex_unlock(&offer->lock);
	if (qp)
		ibv_destroy_qp(qp);
}

/* Serves one note. */
static void serve(struct wv_offer *offer)
{
	struct wv_service_note note;
	int err = wv_service_hear(offer->sock, &note);

	if (!err && note.word == WV_SERVICE_ASK)
		err = answer(offer, &note);
	else if (!err && note.word == WV_SERVICE_GONE)
		note_left(offer, note.number);
	if (wv_service_is_lost(err))
		set_sock(offer, -1);
}

/* Has one more queue pair ready. Whether there may be still more. */
static bool fill(struct wv_offer *offer)
{
	if (offer->n_qps >= offer->ready ||
	    wv_service_qp_new(&offer->shape, &offer->qps[offer->n_qps]))
		return false;
	return ++offer->n_qps < offer->ready;
}

/* How long to wait for events before something else is to be done. */
static int wait_ms(struct wv_offer *offer, bool more)
{
	bool is_told;

	if (more)
		return 0;
	if (offer->sock < 0)
		return (int)wv_backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, offer->failures + 1);
	pthread_mutex_lock(&offer->lock);
	is_told = wv_service_say_left(offer->sock, &offer->left);
	pthread_mutex_unlock(&offer->lock);
	return is_told ? -1 : FIRST_PAUSE_MS;
}

/* There is no event. Whether more is to be done at once. */
static bool work_ahead(struct wv_offer *offer, bool more)
{
	if (more)
		return fill(offer);
	if (offer->sock < 0)
		offer->failures =
		    wv_offer_tell(offer, wv_service_deadline(ANSWER_MS)) ? offer->failures + 1 : 0;
	return false;
}

void *wv_offer_work(void *data)
{
	struct wv_offer *offer = data;
	bool more = true;

	for (;;) {
		struct pollfd files[] = {{.fd = offer->stop_fd, .events = POLLIN},
					 {.fd = offer->sock, .events = POLLIN}};
		int n = poll(files, 2, wait_ms(offer, more));

		if (files[0].revents)
			return NULL;
		if (n > 0)
			serve(offer);
		more = n > 0 || work_ahead(offer, more);
	}
}
