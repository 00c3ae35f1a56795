/*
 * The sets that this process was offered by its parent, and the scripts that it teaches: devices
 * listed, opened and closed by a process for which wv_child_is_tracking() is true.
 */
#pragma once

#include "preload/prefork/tracked_context.h"

struct wv_offer {
	struct wv_set *set;
	struct wv_claim_slot *claim_slot;
	uint64_t state; /* of the claim slot */
};

/*
 * In a child, before anything else runs in it: it may take what is in @offers, and teaches what is
 * not known to @scripts (NULL: nobody). Nothing is left of what its parent had itself. With the
 * lock of tracked_context.h held.
 */
void wv_child_begin(const struct wv_offer *offers, unsigned int n,
		    struct wv_published_scripts *scripts);

/*
 * From now on, until the other call, what this thread does with devices is taught to @scripts, as
 * if it were a child of it.
 */
void wv_child_rehearse(struct wv_published_scripts *scripts);
void wv_child_end_rehearsal(void);

/* The device list as the parent has it, if a set waits. NULL: list plainly. */
struct ibv_device **wv_child_list(int *n);
/* ibv_free_device_list() of such a list; false: it is libibverbs' own. */
bool wv_child_end_list(struct ibv_device **list);

/* A context from a set, or opened plainly. NULL and errno. */
struct ibv_context *wv_child_open(struct ibv_device *device);

/* ibv_close_device(). */
int wv_child_close(struct ibv_context *context);

/*
 * From now on @context gives what no set has, such as queues in memory of the program's choice:
 * nothing more is taken or taught.
 */
void wv_child_stop(struct ibv_context *context);

/* The program closed @fd, which may be of a set that waits: it is given back. */
void wv_child_lose_fd(int fd);

/* The process ends: what is being taught is complete. */
void wv_child_end(void);
