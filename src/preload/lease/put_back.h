/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts back a queue pair that was moved ahead, to the state that its owner has moved it to: moves
 * it to RESET, and then repeats the owner's own moves. The caller says how, since a lease does this
 * with commands and a set of a prefork with verbs.
 */
#pragma once

#include <stdbool.h>

#define WV_NO_MOVE -1 /* named outcome: the owner has made no more moves */

struct wv_put_back {
	void *qp;		 /* passed to both functions */
	int (*reset)(void *qp);	 /* to RESET, or created again. 0 or an errno value */
	int (*repeat)(void *qp); /* the owner's next move. 0, an errno value or WV_NO_MOVE */
};

/*
 * Returns whether the queue pair is in RESET afterwards, so that it must look as if it had never
 * left that state. *@error is 0, or the errno value of the step that failed.
 */
bool wv_put_back(const struct wv_put_back *how, int *error);
