/*
 * A process that forks, and keeps sets ready for its children: what happens around a fork, and the
 * thread that makes sets meanwhile.
 */
#pragma once

#include "preload/prefork/published_scripts.h"
#include "preload/prefork/set_pool.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Keeps @n sets of each script ready from now on; 0: none. What is known is made before it returns.
 * 0, or -errno: -EINVAL if @n is too large, -ENOMEM, -EAGAIN (no thread), or that of the first verb
 * that failed. Call with no lock held.
 */
int wv_zygote_keep(unsigned int n);

/* What children of this process teach to, made at first use. NULL: no memory. */
struct wv_published_scripts *wv_zygote_scripts(void);

/* How many sets wait. */
uint32_t wv_zygote_ready(void);

/* Keeps none any more, if it does. Call with no lock held. */
void wv_zygote_release(void);

/*
 * Around fork(2): the first offers sets to the child and keeps the zygote as it is until the second
 * or the third, which makes a zygote without sets of the child.
 */
void wv_zygote_before_fork(void);
void wv_zygote_after_fork(void);
void wv_zygote_in_child(void);

/* fork() has returned @pid to this process, or failed. Call with no lock held. */
void wv_zygote_forked(pid_t pid);

/* While the program closes many descriptors at once none is opened for sets: it would be lost. */
void wv_zygote_pause(void);
void wv_zygote_resume(void);
