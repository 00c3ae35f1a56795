/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Notices changes of the network on which connected queue pairs depend: a queue pair keeps the GID
 * entry of its own address in use, and some adapters keep the link-layer address of its peer. Links
 * that go down and up again change neither.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#define WV_LINK_ADDRESS 8 /* bytes that are looked at */

struct wv_addresses {
	/* Set by the owner. */
	sd_event *event;
	/* This node has got or lost the address of @gid; NULL: news were lost, so perhaps any. */
	void (*own)(void *arg, const uint8_t gid[16]);
	/* The address of @gid is reached at this link-layer address, as before or not. */
	void (*neighbour)(void *arg, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS]);
	void *arg;

	struct mnl_socket *nl;
	sd_event_source *source;
};

/* 0 or -errno. */
int wv_addresses_start(struct wv_addresses *a);

/* Takes what the kernel says: netlink messages, of @bytes in all. */
void wv_addresses_hear(struct wv_addresses *a, const void *messages, size_t bytes);

/* Harmless if it was not started. */
void wv_addresses_stop(struct wv_addresses *a);
