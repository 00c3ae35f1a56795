/*
 * What a device answers the same to everybody for as long as it is there, so that a program without
 * a lease need not ask the hardware while it opens the device. Learned from leases: these answers
 * are the kernel's to the daemon, never to another program.
 */
#pragma once

#include "cmdlog/writer.h"

#include <sys/queue.h>
#include <sys/types.h>

/* The answers of one device. */
struct wv_constants {
	SLIST_ENTRY(wv_constants) link;
	dev_t rdev;
	struct wv_cmdlog_writer answers;
	_Alignas(8) uint8_t memory[48 * 1024];
};

SLIST_HEAD(wv_all_constants, wv_constants);

/* Notes the constant answers in @lease, of the device @rdev, that are new. */
void wv_constants_learn(struct wv_all_constants *all, dev_t rdev, struct wv_cmdlog *lease);

/* A WV_LEASE command log of the answers of @rdev, without any object; NULL: none are known. */
struct wv_cmdlog *wv_constants_of(struct wv_all_constants *all, dev_t rdev);

/* The device is going away: what comes next under its number may be another. */
void wv_constants_drop(struct wv_all_constants *all, dev_t rdev);
void wv_constants_drop_all(struct wv_all_constants *all);
