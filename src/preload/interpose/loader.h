/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What loader.S calls: the exported dlopen(), dlsym() and dlvsym() are there. They call these
 * functions with the program's arguments, and then go on to the next definition by a jump: what
 * RTLD_NEXT finds, and in which folders a file is sought, goes by the return address.
 */
#pragma once

#include <stdint.h>

/* This library's own calls. The linker requires these names, although such names are reserved. */
void *__wrap_dlopen(const char *file, int mode);
void *__wrap_dlsym(void *handle, const char *name);
void *__wrap_dlvsym(void *handle, const char *name, const char *version);

/* In two registers, on each architecture that loader.S has. */
struct wv_route {
	uintptr_t value;
	void *next; /* the next definition of the function */
};

/* @value: what the program gets; 0: what the next definition returns. @caller: in its code. */
struct wv_route wv_route_dlsym(void *handle, const char *name, const void *caller);
struct wv_route wv_route_dlvsym(void *handle, const char *name, const char *version,
				const void *caller);

/* @value: the mode to load with. */
struct wv_route wv_route_dlopen(const char *file, int mode);
