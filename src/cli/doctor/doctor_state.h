/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the checks of `warmverbs doctor` look at, and what they have found.
 */
#pragma once

#include "wire/wire.h"

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

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

/* An RDMA device, as sysfs has it. */
struct wv_seen_device {
	char node[32];	/* "uverbs0" */
	char ibdev[64]; /* name of the RDMA device */
	dev_t rdev;
	uint32_t driver_id; /* WV_NO_DRIVER: sysfs does not tell */
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
