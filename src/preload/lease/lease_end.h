/*
 * How a context stops being recorded or leased. All are called with the lock of the control path
 * held, but wv_lease_complete().
 */
#pragma once

#include "preload/core/context.h"

/* Sends the recording or the report, if there still is one to send. Keeps errno. */
void wv_lease_settle(struct wv_context *c);

/* The last command descriptor of the context is closed: its end function (core/context.h). */
void wv_lease_end(struct wv_context *c);

/* The program's context is the lease's: its own node is not needed any more. */
void wv_lease_keep(struct wv_context *c);

/*
 * The program wants another context than the lease has, and the kernel makes only one for a ufile:
 * @fd becomes the node that the program opened itself, and the lease ends.
 */
void wv_lease_give_back(struct wv_context *c, int fd);

/*
 * All that a child is to find in the context of @fd has been made: tells the daemon, and closes
 * what the lease brought beyond it. Takes the lock.
 */
void wv_lease_complete(int fd);

/*
 * The process ends: sends what is still to be sent of every context, unless a thread holds the
 * lock. Call with no lock held; may run in a signal handler.
 */
void wv_lease_settle_all(void);
