/* What ready/child.c keeps of a context that is of a set or of a script; for ready/child_verbs.c.
 */
#pragma once

#include "ready/child.h"

enum wv_role {
	WV_OFFERED,  /* waits for ibv_open_device() */
	WV_CLAIMED,  /* this process uses it */
	WV_LEARNING, /* this process teaches it */
};

struct wv_followed {
	uint8_t role; /* enum wv_role */
	bool judged;  /* whether its script fits */
	bool stopped; /* CLAIMED: nothing more is taken from it */
	struct wv_set *set;
	struct wv_family *home;	  /* of the process that the script is of */
	struct wv_ticket *ticket; /* OFFERED */
	uint64_t state;
	struct wv_claims claims; /* CLAIMED */
};

/* The one of @context, or NULL. All of these with the lock of ready/child.h held. */
struct wv_followed *wv_followed_find(const struct ibv_context *context);

/* The script is as long as it will be: it is taught, and followed no more. */
void wv_followed_finish(struct wv_followed *followed);

/* The set of @context that this process claimed, or NULL. A script that is learned there ends. */
struct wv_followed *wv_followed_claimed(const struct ibv_context *context);
