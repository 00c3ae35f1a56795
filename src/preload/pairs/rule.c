/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/pairs/rule.h"

#include "cmdlog/difference.h"

enum wv_pair_why wv_pair_decide(const struct wv_qp_peer *partner, bool gone,
				const struct wv_qp_peer *named, bool from_here)
{
	if (!partner->qp_num || !from_here || !wv_qp_peer_is(partner, named))
		return WV_PAIR_OTHER_PEER;
	return gone ? WV_PAIR_ENDED : WV_PAIR_NO_REASON;
}

uint16_t wv_pair_why_not(enum wv_pair_why why)
{
	static const uint16_t reasons[WV_PAIR_WHYS] = {
	    [WV_PAIR_OTHER_PEER] = WV_WHY_OTHER_PEER,
	    [WV_PAIR_ENDED] = WV_WHY_PEER_GONE,
	    [WV_PAIR_ATTRIBUTES] = WV_WHY_OTHER_MOVES,
	};

	return reasons[why];
}
