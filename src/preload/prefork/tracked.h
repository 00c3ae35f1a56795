/* What preload/prefork/child.c keeps of a context that is of a set or of a script; for
 * preload/prefork/child_verbs.c.
 */
#pragma once

#include "preload/prefork/child.h"

enum wv_role {
	WV_OFFERED,  /* waits for ibv_open_device() */
	WV_CLAIMED,  /* this process uses it */
	WV_LEARNING, /* this process teaches it */
};

struct wv_tracked {
	uint8_t role; /* enum wv_role */
	bool judged;  /* whether its script fits */
	bool stopped; /* CLAIMED: nothing more is taken from it */
	struct wv_set *set;
	struct wv_prefork_shm *home;  /* of the process that the script is of */
	struct wv_claim_slot *ticket; /* OFFERED */
	uint64_t state;
	struct wv_claims claims; /* CLAIMED */
};

/* The one of @context, or NULL. All of these with the lock of preload/prefork/child.h held. */
struct wv_tracked *wv_tracked_find(const struct ibv_context *context);

/* The script is as long as it will be: it is taught, and followed no more. */
void wv_tracked_finish(struct wv_tracked *followed);

/* The set of @context that this process claimed, or NULL. A script that is learned there ends. */
struct wv_tracked *wv_tracked_claimed(const struct ibv_context *context);
