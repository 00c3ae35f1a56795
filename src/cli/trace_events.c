/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/trace_events.h"

#include "abi/names.h"
#include "base/base.h"
#include "cli/command_text.h"
#include "wire/wire.h"

#include <string.h>

/* MODIFY_QP without IBV_QP_STATE: wv_command_qp_state() is -1. */
#define NO_STATE 0xffffu

static void print_command(FILE *out, const struct wv_trace *event)
{
	struct wv_command_id command = wv_command_of(event);
	char name[WV_EVENT_TEXT];

	fputs(wv_command_name(&command, name, sizeof(name)), out);
	if (wv_command_moves_qp(&command) && event->qp_state != NO_STATE)
		fprintf(out, " to %s", wv_qp_state_name(event->qp_state));
}

const char *wv_event_what(const struct wv_trace *event, char text[static WV_EVENT_TEXT])
{
	FILE *out = fmemopen(text, WV_EVENT_TEXT, "w");

	*text = '\0';
	if (!out)
		return text;
	switch (event->kind) {
	case WV_TRACE_LIST:
		fputs("get_device_list", out);
		break;
	case WV_TRACE_OPEN:
		fputs("open", out);
		break;
	case WV_TRACE_ROLLBACK:
		fputs("roll back a QP to RESET", out);
		break;
	case WV_TRACE_COPIED:
		fprintf(out, "post with lkey 0x%x", event->why.offset);
		break;
	case WV_TRACE_PURGE:
		fprintf(out, "destroy an unused %s", wv_object_name(event->object));
		break;
	default:
		print_command(out, event);
		break;
	}
	fclose(out);
	return text;
}

const char *wv_event_by(const struct wv_trace *event)
{
	static const char *const names[] = {
	    [WV_HOW_KERNEL] = "kernel",
	    [WV_HOW_ADOPTED] = "lease",
	    [WV_HOW_RECORDED] = "kernel, recorded",
	    [WV_HOW_PREFORKED] = "parent",
	    [WV_HOW_SPARE] = "spare",
	    [WV_HOW_PAIR] = "pair",
	};

	if (event->kind == WV_TRACE_LIST)
		return "library";
	if (event->kind == WV_TRACE_COPIED)
		return "child";
	return event->how < WV_ARRAY_SIZE(names) ? names[event->how] : "?";
}

static void print_difference(FILE *out, const struct wv_trace *event)
{
	const struct wv_difference *why = &event->why;
	struct wv_command_id command = wv_command_of(event);

	if (event->how == WV_HOW_RECORDED && why->why != WV_WHY_UNKNOWN)
		return;
	if (why->why == WV_WHY_NONE)
		return;
	wv_print_reason(out, &command, wv_why_name(why->why), why->attr, why->offset);
}

const char *wv_event_why(const struct wv_trace *event, char text[static WV_EVENT_TEXT])
{
	FILE *out = fmemopen(text, WV_EVENT_TEXT, "w");

	*text = '\0';
	if (!out)
		return text;
	if (event->kind == WV_TRACE_OPEN && event->how == WV_HOW_PREFORKED)
		fputs("made before the fork, with its objects", out);
	else if (event->kind == WV_TRACE_OPEN && event->how != WV_HOW_ADOPTED)
		fputs(wv_no_lease(event->no_lease)->name, out);
	else if (event->kind == WV_TRACE_COPIED)
		fputs("registered by the parent, private memory", out);
	else if (event->kind == WV_TRACE_COMMAND)
		print_difference(out, event);
	if (event->error)
		fprintf(out, "%sfailed: %s", ftell(out) > 0 ? "; " : "",
			strerrorname_np(event->error) ?: "?");
	fclose(out);
	return text;
}

static const struct wv_no_lease_row no_lease[] = {
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
	return &no_lease[reason < WV_ARRAY_SIZE(no_lease) ? reason : WV_NO_LEASE_UNFIT];
}
