/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread of an offer: answers clients, and has queue pairs ready for them. */
#pragma once

#include "service/offer_state.h"

/* What the thread does. */
void *wv_offer_work(void *offer);

/* Offers @offer to the daemon anew, and waits until @deadline for the answer. 0 or -errno. */
int wv_offer_tell(struct wv_offer *offer, int64_t deadline);
