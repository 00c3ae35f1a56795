/*
 * Identity of the files mapped into this process, read from memory: no file is opened.
 */
#pragma once

#include "wire/wire.h"

/*
 * The main program's build-id; where it has none, a hash of its ELF headers, which is weaker but
 * can do no harm: a lease that does not fit is only not adopted.
 */
void wv_id_of_program(struct wv_build_id *id);

/*
 * The build-id of the first loaded file whose base name begins with @prefix, or, if @prefix is
 * NULL, of the file loaded at @base (struct link_map's l_addr). Zero if there is none.
 */
void wv_id_of_loaded(const char *prefix, uintptr_t base, struct wv_build_id *id);
