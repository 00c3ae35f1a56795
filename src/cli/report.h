/*
 * What `warmverbs explain` tells about a run.
 */
#pragma once

#include "wire/trace_record.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct wv_run {
	const struct wv_trace *records; /* ordered by time */
	size_t n;
	bool lease_wanted;
};

/* 0 or -ENOMEM. */
int wv_report_text(const struct wv_run *run, FILE *out);

/* The same for programs; NULL if there is no memory. */
json_t *wv_report_json(const struct wv_run *run);
