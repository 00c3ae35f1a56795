/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

int hca_watch(struct hca *hca, int fd, uint32_t events, uint64_t id)
{
	struct epoll_event event = {.events = events, .data.u64 = id};

	return epoll_ctl(hca->epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int make_files(struct hca_ufile *ufile, int *other)
{
	socklen_t length = sizeof(ufile->cookie);
	int pair[2];

	ufile->pages = memfd_create("uverbs0", MFD_CLOEXEC);
	if (ufile->pages < 0 || ftruncate(ufile->pages, 2 * HCA_PAGE) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ufile->sock = pair[0];
	*other = pair[1];
	if (getsockopt(pair[1], SOL_SOCKET, SO_COOKIE, &ufile->cookie, &length) < 0)
		return -errno;
	return hca_watch(ufile->hca, ufile->sock, EPOLLRDHUP,
			 HCA_WATCH_ID(HCA_WATCH_UFILE, ufile->cookie));
}

static void free_ufile(struct hca_ufile *ufile)
{
	if (ufile->sock >= 0)
		close(ufile->sock);
	if (ufile->pages >= 0)
		close(ufile->pages);
	LIST_REMOVE(ufile, of_hca);
	free(ufile->handles);
	free(ufile);
}

int hca_ufile_new(struct hca *hca, struct hca_ufile **ufile, int *other)
{
	struct hca_ufile *new = calloc(1, sizeof(*new));
	int error;

	*other = -1;
	if (!new)
		return -ENOMEM;
	new->hca = hca;
	new->sock = new->pages = -1;
	LIST_INSERT_HEAD(&hca->ufiles, new, of_hca);
	error = make_files(new, other);
	if (error) {
		if (*other >= 0)
			close(*other);
		free_ufile(new);
		return error;
	}
	*ufile = new;
	return 0;
}

struct hca_ufile *hca_ufile_by_cookie(struct hca *hca, uint64_t cookie)
{
	struct hca_ufile *ufile;

	LIST_FOREACH (ufile, &hca->ufiles, of_hca) {
		if (ufile->cookie == cookie)
			return ufile;
	}
	return NULL;
}

/* Another description of the same file, as open() would give. */
static int reopen(const struct hca_ufile *ufile, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ufile->pages);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * A mapping keeps its file description open until the last process that inherited it unmaps it, and
 * an open description keeps its lock. So the lock tells whether anything is mapped, and no process
 * has to report what it unmaps or that it ends.
 */
int hca_ufile_map(struct hca_ufile *ufile, bool writable)
{
	int fd = reopen(ufile, writable ? O_RDWR : O_RDONLY);

	if (fd >= 0 && flock(fd, LOCK_SH) < 0) {
		close(fd);
		return -EAGAIN;
	}
	return fd;
}

bool hca_ufile_is_mapped(const struct hca_ufile *ufile)
{
	int fd = reopen(ufile, O_RDONLY);
	bool mapped;

	if (fd < 0)
		return false;
	mapped = flock(fd, LOCK_EX | LOCK_NB) < 0;
	close(fd);
	return mapped;
}

/* Users come before what they use. */
static const enum hca_kind end_order[] = {HCA_QP, HCA_AH,   HCA_MR,  HCA_SRQ,
					  HCA_CQ, HCA_DEVX, HCA_UAR, HCA_PD};

static void destroy_all(struct hca_ufile *ufile, struct hca_work *work)
{
	for (size_t i = 0; i < sizeof(end_order) / sizeof(end_order[0]); i++) {
		struct hca_object *object, *next;

		for (object = LIST_FIRST(&ufile->objects); object; object = next) {
			next = LIST_NEXT(object, of_ufile);
			if (object->kind == end_order[i])
				hca_object_destroy(object, work);
		}
	}
}

static void end_ufile(struct hca_ufile *ufile)
{
	struct hca_work work = {.oracle = ufile->hca->oracle};
	struct hca_events *events;

	destroy_all(ufile, &work);
	hca_context_fini(ufile, &work);
	while ((events = LIST_FIRST(&ufile->event_files))) {
		if (events->fd >= 0)
			hca_events_close(events);
	}
	free_ufile(ufile);
}

void hca_ufile_disassociate(struct hca_ufile *ufile)
{
	struct hca_work work = {.oracle = ufile->hca->oracle};

	destroy_all(ufile, &work);
	hca_context_fini(ufile, &work);
	ufile->has_context = false;
	ufile->disassociated = true;
}

void hca_ufile_close(struct hca_ufile *ufile)
{
	ufile->closed = true;
	if (!hca_ufile_is_mapped(ufile)) {
		end_ufile(ufile);
		return;
	}
	/* It has hung up for good, and would wake the main thread for ever. */
	epoll_ctl(ufile->hca->epoll, EPOLL_CTL_DEL, ufile->sock, NULL);
}

bool hca_reap(struct hca *hca)
{
	struct hca_ufile *ufile, *next;
	bool left = false;

	for (ufile = LIST_FIRST(&hca->ufiles); ufile; ufile = next) {
		next = LIST_NEXT(ufile, of_hca);
		if (!ufile->closed)
			continue;
		if (hca_ufile_is_mapped(ufile))
			left = true;
		else
			end_ufile(ufile);
	}
	return left;
}
