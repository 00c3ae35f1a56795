/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmdlog/difference.h"

const char *wv_why_name(enum wv_why why)
{
	static const char *const names[WV_WHYS] = {
	    [WV_WHY_NONE] = "adopted",
	    [WV_WHY_PASS] = "always answered by the kernel",
	    [WV_WHY_NO_LEASE] = "no lease",
	    [WV_WHY_STOPPED] = "lease no longer followed",
	    [WV_WHY_UNKNOWN] = "unknown command",
	    [WV_WHY_NO_STEP] = "not in the recipe",
	    [WV_WHY_SHAPE] = "other attributes than in the recipe",
	    [WV_WHY_VALUE] = "another value than in the recipe",
	    [WV_WHY_OTHER_PEER] = "not to the peer that it was connected to in advance",
	    [WV_WHY_PEER_GONE] = "the peer that it was connected to in advance is gone",
	    [WV_WHY_OTHER_MOVES] = "not as it was connected in advance",
	};

	return (unsigned int)why < WV_WHYS ? names[why] : "?";
}
