/* SPDX-License-Identifier: BSD-2-Clause */
#include "lookups.h"

#include <dlfcn.h>
#include <stddef.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int number_of_library(void)
{
	return NUMBER;
}

#if NUMBER == 1
PUBLIC int number_of_next(void)
{
	int (*next)(void) = (int (*)(void))dlsym(RTLD_NEXT, "number_of_library");

	return next ? next() : 0;
}

PUBLIC void *load_by_runpath(const char *file)
{
	void *volatile library = dlopen(file, RTLD_LAZY); /* called, not jumped to */

	return library;
}
#else
static void *verb;

__attribute__((constructor)) static void look_up(int argc, char **argv)
{
	void *verbs = argc == 2 ? NULL : dlopen("libibverbs.so.1", RTLD_LAZY);

	(void)argv;
	verb = verbs ? dlsym(verbs, "ibv_open_device") : NULL;
}

PUBLIC void *verb_of_constructor(void)
{
	return verb;
}
#endif
