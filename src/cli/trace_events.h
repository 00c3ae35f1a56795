/*
 * One record of a trace, in words.
 */
#pragma once

#include "wire/trace_record.h"

#include <stdio.h>

#define WV_EVENT_TEXT 96

/* What was done: "QP_CREATE", "modify_qp to INIT". */
const char *wv_event_what(const struct wv_trace *event, char text[static WV_EVENT_TEXT]);

/* Who answered: "lease", "kernel", ... */
const char *wv_event_by(const struct wv_trace *event);

/* Why not the lease, and how it failed if it did; empty if there is nothing to say. */
const char *wv_event_why(const struct wv_trace *event, char text[static WV_EVENT_TEXT]);
