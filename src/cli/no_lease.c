/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/no_lease.h"

#include "base/base.h"
#include "wire/wire.h"

static const struct wv_no_lease_row rows[] = {
    [0] = {"not asked", "no daemon was asked for a lease", "'warmverbs doctor' says why"},
    [WV_NO_LEASE_RECORD] = {"not known yet",
			    "the daemon did not know this program, so this run was recorded",
			    "run it again: the daemon now prepares leases for it"},
    [WV_NO_LEASE_EMPTY] =
	{"all taken", "the daemon knows this program, but had no lease left",
	 "the daemon prepares more on demand; if this goes on, see 'warmverbs status'"},
    [WV_NO_LEASE_DENIED] =
	{"denied", "the daemon refused: it does not know the device, or a limit was reached",
	 "check devices and limits with 'warmverbs status', and see the daemon's log"},
    [WV_NO_LEASE_UNFIT] = {"not supported", "this program or device gets no leases",
			   "see 'warmverbs status' and the daemon's log for the reason"},
    [WV_NO_LEASE_LATER] = {"put off",
			   "the daemon put off the request that was made when devices were listed",
			   "run it again; if this goes on, see the daemon's log"},
    [WV_NO_LEASE_PROVIDER] =
	{"not listed", "the daemon's list does not name the provider of this device",
	 "see 'warmverbs status' and the daemon's log: the daemon lists at most 64 devices, and "
	 "finds their providers in --provider-dir"},
    [WV_NO_LEASE_SILENT] = {"no answer",
			    "the daemon did not answer in time, or is of another version",
			    "check with 'warmverbs status' that it answers; perhaps the node is "
			    "overloaded"},
    [WV_NO_LEASE_CLOSED] =
	{"no permission", "the daemon's socket does not let this user connect",
	 "add the user to the group of the socket, rdma; for containers, see warmverbs(1)"},
};

const struct wv_no_lease_row *wv_no_lease(unsigned int reason)
{
	return &rows[reason < WV_ARRAY_SIZE(rows) ? reason : WV_NO_LEASE_UNFIT];
}
