/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sets that a process makes for itself, before it becomes the program that is to use them: a child
 * of a template (interpose/template_hooks.h). The scripts are those of earlier children.
 */
#pragma once

#include <stdbool.h>

/* In the template: its children will share what they learn from one another. */
void wv_own_sets_share(void);

bool wv_own_sets_are_shared(void);

/* In the process that forks such processes, before: lists the devices once for all of them. */
void wv_own_sets_list(void);

/*
 * In a child, once, before the program runs in it: makes a set of each script that is known, at
 * numbers of descriptors that few programs use. What cannot be made, the program makes itself.
 */
void wv_own_sets_make(void);
