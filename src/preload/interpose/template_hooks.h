/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a template (warmverbs-template(1)) has this library do. libwarmverbs-template.so finds these
 * functions by dlsym(3): neither library needs the other.
 */
#pragma once

/*
 * At the stop point of a template: loads the providers of the node's devices, if the program has
 * libibverbs.
 */
void warmverbs_get_ahead(void);

/* Once this process is a template: its children will share what they learn from one another. */
void warmverbs_share(void);

/* In the process that forks the children, before: lists the devices, if they will make objects. */
void warmverbs_list_devices(void);

/* In a child that waits: makes the objects that earlier starts have used. */
void warmverbs_make_ready(void);

/* Descriptors of these objects: at most @most, to @fds. Returns how many. */
unsigned int warmverbs_own_fds(int *fds, unsigned int most);

/* In a start, whose arguments and environment are its own. */
void warmverbs_begin_anew(char **argv);
