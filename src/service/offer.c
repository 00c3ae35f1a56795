/* SPDX-License-Identifier: BSD-2-Clause */
/* The public functions that begin and end an offer. */
#include "base/base.h"
#include "base/library_thread.h"
#include "service/answering.h"
#include "service/daemon_socket.h"
#include "service/events.h"
#include "service/offer_state.h"

#include <errno.h>
#include <sys/eventfd.h>

#define ANSWER_MS 1000

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static LIST_HEAD(, wv_offer) all = LIST_HEAD_INITIALIZER(all);
static pthread_once_t forks = PTHREAD_ONCE_INIT;

/* What clients are told. 0 or -EINVAL. */
static int describe(struct wv_service_note *making, const struct wv_service_attr *attr)
{
	if (attr->n_mrs > WV_SERVICE_REGIONS || attr->data_bytes > WV_SERVICE_DATA ||
	    (attr->n_mrs && !attr->mrs) || (attr->data_bytes && !attr->data))
		return -EINVAL;
	*making = (struct wv_service_note){.word = WV_SERVICE_MAKING, .n_regions = attr->n_mrs};
	for (unsigned int i = 0; i < attr->n_mrs; i++)
		making->regions[i] = (struct wv_service_region){
		    .addr = (uintptr_t)attr->mrs[i]->addr,
		    .length = attr->mrs[i]->length,
		    .rkey = attr->mrs[i]->rkey,
		};
	making->data_bytes = (uint32_t)attr->data_bytes;
	if (attr->data_bytes)
		memcpy(making->data, attr->data, attr->data_bytes);
	return 0;
}

/* The offer as the daemon is told. 0 or -EINVAL. */
static int name(struct wv_service_note *note, const struct wv_service_attr *attr)
{
	size_t bytes = attr->users ? strlen(attr->users) : 0;

	*note = (struct wv_service_note){.word = WV_SERVICE_OFFER, .from = 1};
	if (!attr->name || !*attr->name || bytes >= sizeof(note->data) ||
	    !wv_copy_string(note->name, sizeof(note->name), attr->name))
		return -EINVAL;
	memcpy(note->data, attr->users ? attr->users : "", bytes);
	note->data_bytes = (uint32_t)bytes;
	return 0;
}

static int prepare(struct wv_offer *offer, const struct wv_service_attr *attr)
{
	int err = attr->ready > WV_OFFER_MOST_READY ? -EINVAL : name(&offer->note, attr);

	offer->ready = attr->ready ? attr->ready : 1;
	if (!err)
		err = describe(&offer->making, attr);
	if (!err)
		err = wv_service_shape_init(&offer->shape, attr->pd, attr->qp, attr->access,
					    attr->port_num);
	if (!err) /* what cannot be made at all is better known now */
		err = wv_service_qp_new(&offer->shape, &offer->qps[0]);
	if (err)
		return err;
	offer->n_qps = 1;
	offer->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	offer->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return offer->stop_fd < 0 || offer->event_fd < 0 ? -errno : 0;
}

static void free_offer(struct wv_offer *offer)
{
	wv_close_fd(&offer->sock);
	wv_close_fd(&offer->stop_fd);
	wv_close_fd(&offer->event_fd);
	while (offer->n_qps && !offer->is_inherited)
		ibv_destroy_qp(offer->qps[--offer->n_qps]);
	pthread_mutex_destroy(&offer->lock);
	free(offer);
}

static struct wv_offer *new_offer(void)
{
	struct wv_offer *offer = calloc(1, sizeof(*offer));

	if (!offer)
		return NULL;
	offer->sock = offer->stop_fd = offer->event_fd = -1;
	LIST_INIT(&offer->conns);
	LIST_INIT(&offer->left);
	TAILQ_INIT(&offer->events);
	pthread_mutex_init(&offer->lock, NULL);
	return offer;
}

static void before_fork(void)
{
	struct wv_offer *offer;

	pthread_mutex_lock(&all_lock);
	LIST_FOREACH (offer, &all, link)
		pthread_mutex_lock(&offer->lock);
}

/* A child must not keep the offer alive for the daemon, nor take the parent's events. */
static void inherit(struct wv_offer *offer)
{
	offer->is_inherited = true;
	wv_close_fd(&offer->sock);
	wv_close_fd(&offer->stop_fd);
	wv_close_fd(&offer->event_fd);
}

static void after_fork(bool child)
{
	struct wv_offer *offer;

	LIST_FOREACH (offer, &all, link) {
		if (child)
			inherit(offer);
		pthread_mutex_unlock(&offer->lock);
	}
	pthread_mutex_unlock(&all_lock);
}

static void in_parent(void)
{
	after_fork(false);
}

static void in_child(void)
{
	after_fork(true);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
}

/* From then on a child after fork(2) knows that it has no part in @offer. */
static void enlist(struct wv_offer *offer)
{
	pthread_once(&forks, watch_forks);
	pthread_mutex_lock(&all_lock);
	LIST_INSERT_HEAD(&all, offer, link);
	pthread_mutex_unlock(&all_lock);
}

static void delist(struct wv_offer *offer)
{
	pthread_mutex_lock(&all_lock);
	LIST_REMOVE(offer, link);
	pthread_mutex_unlock(&all_lock);
}

WV_PUBLIC int wv_service_offer(const struct wv_service_attr *attr, size_t size,
			       struct wv_offer **result)
{
	struct wv_service_attr known = {.name = NULL};
	struct wv_offer *offer;
	int err;

	if (!attr || !size || !result)
		return EINVAL;
	memcpy(&known, attr, size < sizeof(known) ? size : sizeof(known));
	offer = new_offer();
	if (!offer)
		return ENOMEM;
	enlist(offer);
	err = prepare(offer, &known);
	if (!err)
		err = wv_offer_tell(offer, wv_service_deadline(ANSWER_MS));
	if (!err)
		err = wv_library_thread(&offer->thread, wv_offer_work, offer);
	if (err) {
		delist(offer);
		free_offer(offer);
		return -err;
	}
	*result = offer;
	return 0;
}

/* The program keeps the connections that it has. */
static void let_go(struct wv_offer *offer)
{
	struct wv_service_conn_end *conn;

	wv_close_fd(&offer->sock);
	wv_service_say_left(offer->sock, &offer->left);
	while ((conn = LIST_FIRST(&offer->conns))) {
		LIST_REMOVE(conn, link);
		conn->offer = NULL;
		if (conn->is_known)
			continue;
		if (!offer->is_inherited)
			ibv_destroy_qp(conn->public.qp);
		free(conn);
	}
}

WV_PUBLIC void wv_service_withdraw(struct wv_offer *offer)
{
	if (!offer)
		return;
	if (!offer->is_inherited) {
		eventfd_write(offer->stop_fd, 1);
		pthread_join(offer->thread, NULL);
	}
	delist(offer);
	let_go(offer);
	free_offer(offer);
}
