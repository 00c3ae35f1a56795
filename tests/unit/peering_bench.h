/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two nodes of one cluster in this process, 127.0.0.1 and 127.0.0.2, whose loop the test runs. The
 * certificates come from openssl(1).
 */
#pragma once

#include "fixture.h"

#include "daemon/peers/peers.h"

#define TYPE (WV_FRAME_FIRST_MESSAGE + 3)

struct node {
	struct wv_config config;
	struct wv_peers peers;
	struct wv_peer *up; /* the other one, while it is up */
	unsigned int n_up, n_down, n_messages;
	uint16_t type;
	size_t length;
	uint8_t body[WV_FRAME_BODY];
	int answer; /* of message() */
};

extern sd_event *event;
extern struct node nodes[2]; /* node 0 is 127.0.0.1 */

/* Of a group of tests, and of each test, which begins when both nodes are up. */
int make_certificates(void **state);
int remove_certificates(void **state);
int set_up(void **state);
int tear_down(void **state);

/* Skips the test if there is no openssl. */
void need_openssl(void);

/* Sets an option of the configuration of @n. */
void set(struct node *n, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Turns the loop until @condition is true. */
void run_until(bool (*condition)(void));
bool both_up(void);
bool both_down(void);

void gid_of(uint8_t gid[static 16], const char *text);
