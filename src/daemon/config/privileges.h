/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Privileges that the daemon must not have, and the limit that it needs.
 */
#pragma once

/* The kernel's default for the highest limit (fs.nr_open). Tables have a place for each. */
#define WV_MOST_FDS (1U << 20)

/*
 * Drops all capabilities but CAP_IPC_LOCK for good. A lease made without CAP_NET_RAW and
 * CAP_SYS_RAWIO gives a program no right that the device node does not give. 0 or -errno.
 */
int wv_privileges_drop(void);

/*
 * Raises the limit on descriptors to the hard limit, but at most to WV_MOST_FDS. A failure is
 * ignored.
 */
void wv_raise_descriptor_limit(void);
