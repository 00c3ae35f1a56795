/*
 * Giving up what the daemon must not have.
 */
#pragma once

/*
 * Drops all capabilities but CAP_IPC_LOCK, for good, and the way to new ones. Leases made without
 * CAP_NET_RAW or CAP_SYS_RAWIO give a program no right that the device node does not. 0 or -errno.
 */
int wv_privileges_drop(void);

/* Raises the number of descriptors to what this process may have. */
void wv_raise_descriptor_limit(void);
