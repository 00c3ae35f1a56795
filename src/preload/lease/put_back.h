/*
 * A queue pair that was moved ahead of its owner is taken back to where the owner has moved it: to
 * RESET, and from there by the owner's own moves. Whether that is done by commands of a lease or by
 * verbs on a set of a prefork is the caller's.
 */
#pragma once

#include <stdbool.h>

#define WV_NO_MOVE -1 /* named outcome: the owner has made no more moves */

struct wv_put_back {
	void *qp;		 /* passed to both */
	int (*reset)(void *qp);	 /* to RESET, or made anew. 0 or an errno value */
	int (*repeat)(void *qp); /* the owner's next move. 0, an errno value, or WV_NO_MOVE */
};

/*
 * Returns whether the queue pair is in RESET then, so that it must look as if it had never left;
 * *@error is 0, or the errno value of what failed on the way.
 */
bool wv_put_back(const struct wv_put_back *how, int *error);
