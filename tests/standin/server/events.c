/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Event files: pipes in packet mode, so that each read gets one record, as from the kernel. A
 * record counts as reported when a program has read it. When an object is destroyed, its unread
 * records are removed from the pipe.
 */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

struct hca_record {
	const void *owner;
	uint32_t *reported; /* the owner's count of what programs have read; NULL: nobody counts */
	union {
		struct ib_uverbs_comp_event_desc comp;
		struct ib_uverbs_async_event_desc async;
	};
	TAILQ_ENTRY(hca_record) next;
};

static size_t record_size(const struct hca_events *events)
{
	return events->is_channel ? sizeof(struct ib_uverbs_comp_event_desc)
				  : sizeof(struct ib_uverbs_async_event_desc);
}

int hca_events_new(struct hca_ufile *ufile, bool is_channel, struct hca_events **events,
		   int *reader)
{
	struct hca_events *new = calloc(1, sizeof(*new));
	struct stat st;
	int pipe_fds[2], error;

	if (!new)
		return -ENOMEM;
	if (pipe2(pipe_fds, O_CLOEXEC | O_DIRECT) < 0) {
		free(new);
		return -EMFILE;
	}
	/* The program sets the mode of the reading end; only our end must never block. */
	fcntl(pipe_fds[1], F_SETFL, O_DIRECT | O_NONBLOCK);
	fstat(pipe_fds[0], &st);
	*new = (struct hca_events){
	    .ufile = ufile, .is_channel = is_channel, .fd = pipe_fds[1], .inode = st.st_ino};
	TAILQ_INIT(&new->records);
	LIST_INSERT_HEAD(&ufile->event_files, new, of_ufile);
	error = hca_watch(ufile->hca, new->fd, 0, HCA_WATCH_ID(HCA_WATCH_EVENTS, new->inode));
	*events = new;
	*reader = pipe_fds[0];
	return error;
}

static void pop(struct hca_events *events, unsigned int n)
{
	while (n--) {
		struct hca_record *record = TAILQ_FIRST(&events->records);

		TAILQ_REMOVE(&events->records, record, next);
		events->n_sent--;
		if (record->reported)
			(*record->reported)++;
		free(record);
	}
}

/* Counts and forgets what programs have read. */
static void sync_read(struct hca_events *events)
{
	int unread;

	if (events->fd < 0 || ioctl(events->fd, FIONREAD, &unread) < 0)
		return;
	pop(events, events->n_sent - (unsigned int)unread / record_size(events));
}

static void want_room(struct hca_events *events, bool want)
{
	struct epoll_event event = {
	    .events = want ? EPOLLOUT : 0,
	    .data.u64 = HCA_WATCH_ID(HCA_WATCH_EVENTS, events->inode),
	};

	epoll_ctl(events->ufile->hca->epoll, EPOLL_CTL_MOD, events->fd, &event);
}

void hca_events_flush(struct hca_events *events)
{
	struct hca_record *record;
	unsigned int rank = 0;

	if (events->fd < 0)
		return;
	sync_read(events);
	TAILQ_FOREACH (record, &events->records, next) {
		if (rank++ < events->n_sent)
			continue;
		if (write(events->fd, &record->comp, record_size(events)) < 0)
			break;
		events->n_sent++;
	}
	want_room(events, record != NULL);
}

static void post(struct hca_events *events, const struct hca_record *what)
{
	struct hca_record *record;

	if (!events || events->fd < 0)
		return;
	record = malloc(sizeof(*record));
	if (!record)
		return;
	*record = *what;
	TAILQ_INSERT_TAIL(&events->records, record, next);
	hca_events_flush(events);
}

/* Takes the unread records out of the pipe, so that they can be written again. */
static void drain(struct hca_events *events)
{
	char path[32], record[sizeof(struct ib_uverbs_async_event_desc)];
	unsigned int unread = 0;
	int reader;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", events->fd);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (reader < 0)
		return;
	while (read(reader, record, record_size(events)) > 0)
		unread++;
	close(reader);
	pop(events, events->n_sent - unread);
	events->n_sent = 0;
}

static bool has_record_of(const struct hca_events *events, const void *owner)
{
	struct hca_record *record;

	TAILQ_FOREACH (record, &events->records, next) {
		if (record->owner == owner)
			return true;
	}
	return false;
}

static void take_back(struct hca_events *events, const void *owner)
{
	struct hca_record *record, *next;

	if (events->fd >= 0)
		drain(events);
	for (record = TAILQ_FIRST(&events->records); record; record = next) {
		next = TAILQ_NEXT(record, next);
		if (record->owner != owner)
			continue;
		TAILQ_REMOVE(&events->records, record, next);
		free(record);
	}
	hca_events_flush(events);
}

static void maybe_free(struct hca_events *events)
{
	struct hca_record *record;

	if (events->users || events->fd >= 0)
		return;
	while ((record = TAILQ_FIRST(&events->records))) {
		TAILQ_REMOVE(&events->records, record, next);
		free(record);
	}
	if (events->ufile->async == events)
		events->ufile->async = NULL;
	LIST_REMOVE(events, of_ufile);
	free(events);
}

struct hca_events *hca_events_use(struct hca_events *events)
{
	if (events)
		events->users++;
	return events;
}

void hca_events_unuse(struct hca_events *events, const void *owner)
{
	if (!events)
		return;
	sync_read(events);
	if (has_record_of(events, owner))
		take_back(events, owner);
	events->users--;
	maybe_free(events);
}

void hca_events_close(struct hca_events *events)
{
	if (events->fd < 0)
		return;
	close(events->fd);
	events->fd = -1;
	maybe_free(events);
}

struct hca_events *hca_events_by_inode(const struct hca_ufile *ufile, uint64_t inode,
				       bool is_channel)
{
	struct hca_events *events;

	LIST_FOREACH (events, &ufile->event_files, of_ufile) {
		if (events->inode == inode && events->is_channel == is_channel)
			return events;
	}
	return NULL;
}

void hca_cq_event(struct hca_cq *cq)
{
	post(cq->channel, &(struct hca_record){.owner = cq,
					       .reported = &cq->comp_events_reported,
					       .comp = {.cq_handle = cq->user_handle}});
}

static void post_async(struct hca_events *events, void *owner, uint32_t *reported,
		       uint64_t user_handle, enum ibv_event_type type)
{
	post(events,
	     &(struct hca_record){.owner = owner,
				  .reported = reported,
				  .async = {.element = user_handle, .event_type = (uint32_t)type}});
}

void hca_cq_async(struct hca_cq *cq, enum ibv_event_type type)
{
	post_async(cq->async, cq, &cq->async_events_reported, cq->user_handle, type);
}

void hca_qp_async(struct hca_qp *qp, enum ibv_event_type type)
{
	post_async(qp->async, qp, &qp->async_events_reported, qp->user_handle, type);
}

void hca_srq_async(struct hca_srq *srq, enum ibv_event_type type)
{
	post_async(srq->async, srq, &srq->async_events_reported, srq->user_handle, type);
}

void hca_port_async(struct hca_ufile *ufile, enum ibv_event_type type)
{
	post_async(ufile->async, NULL, NULL, HCA_PORT, type);
}
