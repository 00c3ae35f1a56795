/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/peers/peer_names.h"

static const char *const state_names[WV_PEER_STATES] = {
    [WV_PEER_IDLE] = "idle",
    [WV_PEER_CONNECTING] = "connecting",
    [WV_PEER_UP] = "up",
    [WV_PEER_BACKING_OFF] = "backing off",
    [WV_PEER_REFUSED] = "refused",
    [WV_PEER_SELF] = "this node",
    [WV_PEER_SAME] = "another address",
};

static const char *const mismatch_names[WV_MISMATCHES] = {
    [WV_MISMATCH_PARTNER] = "other_peer",
    [WV_MISMATCH_ATTRIBUTES] = "attributes",
    [WV_MISMATCH_GONE] = "ended",
};

const char *wv_peer_state_name(enum wv_peer_state state)
{
	return state_names[state];
}

const char *wv_mismatch_name(enum wv_mismatch mismatch)
{
	return mismatch_names[mismatch];
}
