/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether a library can be loaded beside another system's libc. The dynamic linker ends a program
 * if a preloaded library needs a version of symbols that libc lacks.
 */
#pragma once

#include <stddef.h>

enum wv_libc_fit {
	WV_LIBC_FITS = 0,
	WV_LIBC_OTHER_MACHINE = 1, /* another processor, or another word size */
	WV_LIBC_TOO_OLD,	   /* it lacks a version that the library needs */
};

/*
 * Compares the versions that the ELF file @library needs of libc.so.6 with those that the ELF file
 * @libc defines. Returns enum wv_libc_fit, or -errno: -ENOEXEC if one is no ELF file or is damaged.
 * With WV_LIBC_TOO_OLD, @missing, of @capacity bytes, gets the first version that is missing. Reads
 * the files and executes nothing; @libc may come from anybody.
 */
int wv_libc_fits(int library, int libc, char *missing, size_t capacity);
