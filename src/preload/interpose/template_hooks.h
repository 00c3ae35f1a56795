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

/* In a start, whose arguments and environment are its own. */
void warmverbs_begin_anew(char **argv);
