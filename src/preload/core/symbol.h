/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks up functions in the symbol tables of loaded libraries without calling dlsym(), for the
 * library that interposes dlsym() itself.
 */
#pragma once

#include <link.h>
#include <stdbool.h>

struct wv_symbol {
	void *at;
	const char *version; /* NULL: it has none */
};

/*
 * Finds the default version of function @name that @library defines; false: it defines none, or has
 * no hash table of GNU's kind. Calls nothing, takes no lock. @library must stay loaded meanwhile.
 */
bool wv_symbol_find(const struct link_map *library, const char *name, struct wv_symbol *found);
