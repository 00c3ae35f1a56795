/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constant answers: what a device answers in the same way to everybody for as long as it exists. A
 * program without a lease gets them, so that it need not ask the hardware when it opens the device.
 * They are learned from leases, that is from the kernel's answers to the daemon, never from the
 * answers to another program.
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

/* Notes the new constant answers in @lease, a lease of the device @rdev. */
void wv_constants_learn(struct wv_all_constants *all, dev_t rdev, struct wv_cmdlog *lease);

/*
 * A WV_LEASE command log of the answers of @rdev, without any object; NULL if none are known. Valid
 * until they are dropped or more are learned.
 */
struct wv_cmdlog *wv_constants_of(struct wv_all_constants *all, dev_t rdev);

/* The device is being removed: its number may be given to another device. */
void wv_constants_drop(struct wv_all_constants *all, dev_t rdev);

/* Drops the answers of all devices. */
void wv_constants_drop_all(struct wv_all_constants *all);
