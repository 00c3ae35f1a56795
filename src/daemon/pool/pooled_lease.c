/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/pool/pooled_lease.h"

#include "base/base.h"
#include "daemon/pool/memory_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int wv_issue(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	return ioctl(*(int *)kernel, RDMA_VERBS_IOCTL, cmd) ? errno : 0;
}

/* Where the commands of one replay go. */
struct target {
	const struct wv_issuer *issuer;
	int *fd;
};

static int issue_unless_cancelled(void *kernel, struct ib_uverbs_ioctl_hdr *cmd)
{
	const struct target *target = kernel;

	if (atomic_load(target->issuer->cancelled))
		return ECANCELED;
	return target->issuer->issue(target->fd, cmd);
}

/* Opens the node of @device, unless another device has the node's name by now. */
static int open_node(const struct wv_device *device)
{
	wv_auto_fd fd = open(device->node, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != device->rdev)
		return -ENODEV;
	return wv_steal_fd(&fd);
}

void wv_pooled_lease_free(struct wv_pooled_lease *lease)
{
	wv_fds_close(&lease->fds);
	if (lease->tenant)
		wv_tenant_release(lease->tenant, &lease->cost);
	free(lease->cmdlog);
	free(lease);
}

/* The name of step number @index of @cmdlog. */
static const char *step_name(struct wv_cmdlog *cmdlog, unsigned int index)
{
	const struct wv_step *step = wv_cmdlog_nth(cmdlog, index);

	return step ? wv_step_row(step)->name : "?";
}

static void explain(struct wv_cmdlog *recipe, const struct wv_replay *replay, int err,
		    char why[static WV_WHY_BYTES])
{
	unsigned int i = replay->failed_step;

	if (err == -EPROTO)
		snprintf(why, WV_WHY_BYTES, "step %u, %s: the kernel answers %s", i,
			 step_name(recipe, i),
			 replay->failed_errno ? strerror(replay->failed_errno) : "success");
	else
		snprintf(why, WV_WHY_BYTES, "%s", strerror(-err));
}

/*
 * -EPROTO is for recipes that the kernel contradicts. A kernel that is merely short of something
 * says nothing about the recipe.
 */
static int classify(int err, int failed_errno)
{
	switch (failed_errno) {
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case EAGAIN:
	case EINTR:
	case ECANCELED:
	case EIO: /* the device is going away */
	case ENODEV:
		return -failed_errno;
	default:
		return err;
	}
}

/* Takes @fd, the memory as it was created, or -1: there is none. */
static int take_memory(struct wv_pooled_lease *lease, int fd)
{
	int again;

	if (fd < 0)
		return 0;
	again = wv_memory_open(fd);
	close(fd);
	if (again < 0)
		return again;
	lease->has_memory = true;
	lease->fds.all[lease->fds.n++] = again;
	return 0;
}

int wv_pooled_lease_memory(const struct wv_pooled_lease *lease)
{
	return lease->has_memory ? lease->fds.all[lease->fds.n - 1] : -1;
}

/* The descriptors that the replay made become the lease's, on failure too. */
static int play(struct wv_pooled_lease *lease, struct wv_cmdlog *recipe,
		const struct wv_issuer *issuer, char why[static WV_WHY_BYTES])
{
	struct target target = {.issuer = issuer, .fd = &lease->fds.all[0]};
	struct wv_replay replay;
	int err = wv_replay(recipe, issue_unless_cancelled, &target, lease->cmdlog,
			    WV_CMDLOG_MAX_BYTES, &replay);
	struct wv_cmdlog *small;
	int no_memory;

	memcpy(&lease->fds.all[1], replay.fds, replay.n_fds * sizeof(replay.fds[0]));
	lease->fds.n = 1 + replay.n_fds;
	no_memory = take_memory(lease, replay.memory);
	if (err) {
		explain(recipe, &replay, err, why);
		return classify(err, replay.failed_errno);
	}
	if (no_memory) {
		snprintf(why, WV_WHY_BYTES, "its memory: %s", strerror(-no_memory));
		return no_memory;
	}
	small = realloc(lease->cmdlog, lease->cmdlog->bytes);
	if (small)
		lease->cmdlog = small;
	return 0;
}

/* Opens the device and carries out the recipe in the new ufile. */
static int fill(struct wv_pooled_lease *lease, struct wv_cmdlog *recipe,
		const struct wv_device *device, const struct wv_issuer *issuer,
		char why[static WV_WHY_BYTES])
{
	int fd = open_node(device);

	if (fd < 0) {
		snprintf(why, WV_WHY_BYTES, "%s: %s", device->node, strerror(-fd));
		return fd;
	}
	lease->fds = (struct wv_fds){.n = 1, .all = {fd}};
	lease->rdev = device->rdev;
	return play(lease, recipe, issuer, why);
}

int wv_pooled_lease_make(struct wv_cmdlog *recipe, const struct wv_device *device,
			 const struct wv_issuer *issuer, struct wv_pooled_lease **lease,
			 char why[static WV_WHY_BYTES])
{
	struct wv_pooled_lease *r = calloc(1, sizeof(*r));
	int err;

	if (r)
		r->cmdlog = malloc(WV_CMDLOG_MAX_BYTES);
	if (!r || !r->cmdlog) {
		free(r);
		snprintf(why, WV_WHY_BYTES, "%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	err = fill(r, recipe, device, issuer, why);
	if (err)
		wv_pooled_lease_free(r);
	else
		*lease = r;
	return err;
}
