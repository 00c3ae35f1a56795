/* SPDX-License-Identifier: BSD-2-Clause */
/* What libwarmverbs.so, if it is preloaded too, has ready for starts (its template_hooks.h). */
#pragma once

/* At the stop point. Returns NULL, or why this process cannot be a template. */
const char *wv_ready_begin(void);

/* Once it can be one. */
void wv_ready_share(void);

/* In the process that forks the children, before. */
void wv_ready_list(void);

/* In a child that waits. */
void wv_ready_make(void);

/* Descriptors that are to stay as they are: at most @most, to @fds. Returns how many. */
unsigned int wv_ready_fds(int *fds, unsigned int most);

/* In a start, whose environment is its own. */
void wv_ready_use(char **argv);
