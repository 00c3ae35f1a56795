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

int wv_offer_tell(struct wv_offer *offer, int64_t deadline)
{
	wv_auto_fd sock = wv_service_socket();
	struct wv_service_note note;
	int err = sock < 0 ? sock : wv_service_say(sock, &offer->note);

	if (!err)
		err = wv_service_await(sock, deadline);
	if (!err)
		err = wv_service_hear(sock, &note);
	if (!err && note.word == WV_SERVICE_REFUSED)
		err = note.error ? -note.error : -EPROTO;
	if (!err && note.word != WV_SERVICE_OFFERED)
		err = -EPROTO;
	if (!err)
		set_sock(offer, wv_steal_fd(&sock));
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

/* Connects @qp to the client, and fills in what it is told. 0 or -errno. */
static int connect_to(struct wv_offer *offer, struct ibv_qp *qp, const struct wv_service_qp *client,
		      struct wv_service_note *made)
{
	struct wv_service_port port;
	union ibv_gid gid;
	int err;

	memcpy(&gid, client->gid, sizeof(gid));
	err = wv_service_port_find(offer->shape.pd->context, offer->shape.port, &gid, &port);
	if (err)
		return err;
	wv_service_qp_describe(qp, &offer->shape, &port, &made->qp);
	return wv_service_qp_connect(qp, &port, &made->qp, client);
}

static struct wv_service_conn_end *add_conn(struct wv_offer *offer, struct ibv_qp *qp,
					    uint64_t number)
{
	struct wv_service_conn_end *conn = calloc(1, sizeof(*conn));

	if (!conn)
		return NULL;
	conn->public.qp = qp;
	conn->number = number;
	conn->offer = offer;
	return conn;
}

static int make(struct wv_offer *offer, const struct wv_service_note *ask,
		struct wv_service_note *made)
{
	struct wv_service_conn_end *conn;
	struct ibv_qp *qp;
	int err = take_qp(offer, &qp);

	if (err)
		return err;
	err = connect_to(offer, qp, &ask->qp, made);
	conn = err ? NULL : add_conn(offer, qp, ask->from);
	if (!conn) {
		ibv_destroy_qp(qp);
		return err ? err : -ENOMEM;
	}
	pthread_mutex_lock(&offer->lock);
	LIST_INSERT_HEAD(&offer->conns, conn, link);
	wv_offer_announce(offer, conn, WV_SERVICE_CAME);
	pthread_mutex_unlock(&offer->lock);
	return 0;
}

/* 0 or -errno: the daemon is gone. */
static int answer(struct wv_offer *offer, const struct wv_service_note *ask)
{
	struct wv_service_note note = offer->made;
	int err = make(offer, ask, &note);

	if (err)
		note =
		    (struct wv_service_note){.word = WV_SERVICE_REFUSED, .error = (uint16_t)-err};
	note.number = ask->from;
	return wv_service_say(offer->sock, &note);
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
	if (err && err != -EAGAIN)
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

/* Waits for the daemon, or, if it is gone, until it is to be tried again. */
static int wait_ms(const struct wv_offer *offer)
{
	if (offer->sock >= 0)
		return -1;
	return (int)wv_backoff(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, offer->failures + 1);
}

void *wv_offer_work(void *data)
{
	struct wv_offer *offer = data;
	bool more = true;

	for (;;) {
		struct pollfd files[] = {{.fd = offer->stop_fd, .events = POLLIN},
					 {.fd = offer->sock, .events = POLLIN}};
		int n = poll(files, 2, more ? 0 : wait_ms(offer));

		if (files[0].revents)
			return NULL;
		if (n > 0) {
			serve(offer);
			more = true;
		} else if (more) {
			more = fill(offer);
		} else if (offer->sock < 0) {
			offer->failures = wv_offer_tell(offer, wv_service_deadline(ANSWER_MS))
					      ? offer->failures + 1
					      : 0;
		}
	}
}
