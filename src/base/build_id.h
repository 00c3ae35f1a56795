/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Identities of programs and libraries: of the files mapped into this process, read from memory
 * without opening any file, and of a program that has not been started.
 */
#pragma once

#include <stdint.h>

/* GNU build-id of a file (the first 20 bytes); all zeros if the file has none. */
struct wv_build_id {
	uint8_t bytes[20];
};

/*
 * The main program's build-id. Without one: a hash of its ELF headers, which is weaker but
 * harmless, because a lease that does not fit is never adopted.
 */
void wv_id_of_program(struct wv_build_id *id);

/*
 * What wv_id_of_program() will say in a process that runs the program @fd. The file may contain
 * anything. 0; or -ENOEXEC if it is not a program that this machine runs, or has headers of unusual
 * size.
 */
int wv_id_of_file(int fd, struct wv_build_id *id);

/*
 * The build-id of the first loaded file whose base name begins with @prefix; if @prefix is NULL, of
 * the file loaded at @base (l_addr of struct link_map). All zeros if there is no such file.
 */
void wv_id_of_loaded(const char *prefix, uintptr_t base, struct wv_build_id *id);
