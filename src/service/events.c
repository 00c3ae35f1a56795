/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/events.h"

#include "base/base.h"

#include <errno.h>
#include <sys/eventfd.h>

WV_PUBLIC int wv_service_fd(const struct wv_offer *offer)
{
	return offer->event_fd;
}

void wv_offer_announce(struct wv_offer *offer, struct wv_service_conn_end *conn,
		       enum wv_service_event_type event)
{
	conn->event = event;
	TAILQ_INSERT_TAIL(&offer->events, conn, event_link);
	eventfd_write(offer->event_fd, 1);
}

static void forget_event(struct wv_offer *offer, struct wv_service_conn_end *conn)
{
	eventfd_t count;

	if (!conn->event)
		return;
	TAILQ_REMOVE(&offer->events, conn, event_link);
	conn->event = 0;
	if (TAILQ_EMPTY(&offer->events))
		eventfd_read(offer->event_fd, &count);
}

void wv_offer_forget(struct wv_offer *offer, struct wv_service_conn_end *conn)
{
	forget_event(offer, conn);
	LIST_REMOVE(conn, link);
	free(conn);
}

WV_PUBLIC int wv_service_next(struct wv_offer *offer, struct wv_service_event *event)
{
	struct wv_service_conn_end *conn;

	pthread_mutex_lock(&offer->lock);
	conn = TAILQ_FIRST(&offer->events);
	if (conn) {
		*event = (struct wv_service_event){conn->event, &conn->public};
		forget_event(offer, conn);
		conn->is_known = true;
	}
	pthread_mutex_unlock(&offer->lock);
	return conn ? 0 : EAGAIN;
}

void wv_offer_leave(struct wv_service_conn_end *end)
{
	struct wv_offer *offer = end->offer;

	if (!offer) {
		free(end);
		return;
	}
	pthread_mutex_lock(&offer->lock);
	forget_event(offer, end);
	LIST_REMOVE(end, link);
	LIST_INSERT_HEAD(&offer->left, end, link);
	wv_service_say_left(offer->sock, &offer->left);
	pthread_mutex_unlock(&offer->lock);
}
