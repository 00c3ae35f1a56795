/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the checks of `warmverbs doctor` look at, how they say what they have found, and how that is
 * printed, for people and for programs.
 */
#pragma once

#include "cli/doctor/seen_devices.h"

#include <limits.h>
#include <stdio.h>

#define WV_MAX_FINDINGS (2 * WV_MAX_DEVICES + 32)

enum wv_mark {
	WV_MARK_OK,
	WV_MARK_NOTE, /* leases are possible all the same */
	WV_MARK_FAIL, /* keeps programs from leases */
};

/* Texts are printable ASCII, whatever they were made of. */
struct wv_finding {
	enum wv_mark mark;
	const char *check;
	char found[320];
	char remedy[400]; /* empty: there is nothing to do */
};

struct wv_doctor {
	/* Where to look. */
	const char *root;   /* "", or a folder that stands for "/" */
	const char *sysfs;  /* "/sys" */
	const char *verbs;  /* path of libibverbs; NULL: there is none */
	const char *socket; /* of the daemon */

	/* What was found before the checks. */
	const char *library;  /* path of the library to preload */
	int library_error;    /* 0 or -errno */
	json_t *status;	      /* the daemon's; NULL: it does not answer */
	int status_error;     /* 0 or -errno: why not */
	json_t *peers;	      /* of the daemon; NULL: it did not say */
	bool netns_exclusive; /* each RDMA device belongs to one network namespace */
	bool in_container;    /* or in a user namespace */
	struct wv_seen_device devices[WV_MAX_DEVICES];
	unsigned int n_devices;

	/* What the checks have found. */
	const char *check; /* the one that is at work */
	struct wv_finding findings[WV_MAX_FINDINGS];
	unsigned int n_findings;
	struct wv_finding *last; /* NULL: there was no room for it */
};

/* Adds a finding of the check that is at work. Further findings than there is room for are lost. */
void wv_found(struct wv_doctor *d, enum wv_mark mark, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Gives the last finding a remedy: a command, or what to do. */
void wv_remedy(struct wv_doctor *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "as root: " if the user is not root: to begin a remedy with. */
const char *wv_as_root(void);

/* How many findings have that mark. */
unsigned int wv_count_findings(const struct wv_doctor *d, enum wv_mark mark);

/* Prints a line for each finding, a second one with the remedy, and the verdict. */
void wv_doctor_text(const struct wv_doctor *d, FILE *out);

/* Returns a new document; NULL if out of memory. */
json_t *wv_doctor_json(const struct wv_doctor *d);
