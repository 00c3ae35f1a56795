/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/symbol.h"

#include "base/base.h"

#include <elf.h>

#define WORD_BITS (8 * sizeof(ElfW(Addr)))
/* Bits of an entry of DT_VERSYM (the constants of elf.h have other names for them, or none). */
#define VERSION_IS_HIDDEN 0x8000u
#define VERSION_INDEX	  0x7fffu

/* DT_GNU_HASH. Behind the filter are buckets, and then one hash for each symbol from @first on. */
struct hash_table {
	uint32_t n_buckets, first, n_filter, shift;
	ElfW(Addr) filter[];
};

struct tables {
	const struct hash_table *hashes;
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Half) * versions; /* of each symbol; NULL: the library has none */
};

/*
 * glibc adds the library's address to some of these entries, and to none of the kernel's library
 * (the vDSO).
 */
WV_UNSANITIZED static const void *section(const struct link_map *library, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *entry = library->l_ld;

	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return (const uint8_t *)entry->d_un.d_ptr +
			       (entry->d_un.d_ptr < library->l_addr ? library->l_addr : 0);
	return NULL;
}

WV_UNSANITIZED static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	while (*name)
		hash = hash * 33 + (uint8_t)*name++;
	return hash;
}

/* Not strcmp(): a sanitizer's is not ready when the first program looks something up. */
WV_UNSANITIZED static bool is_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

/* False: the library has no such symbol. It is asked before anything else of a library is read. */
WV_UNSANITIZED static bool may_have(const struct hash_table *table, uint32_t hash)
{
	ElfW(Addr) word = table->filter[hash / WORD_BITS % table->n_filter];

	return word >> (hash % WORD_BITS) & word >> ((hash >> table->shift) % WORD_BITS) & 1;
}

WV_UNSANITIZED static bool is_wanted(const struct tables *t, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &t->symbols[i];

	return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       !(t->versions && t->versions[i] & VERSION_IS_HIDDEN) &&
	       is_equal(name, t->names + symbol->st_name);
}

/* The number of the symbol; 0, which is never a name, if there is none. */
WV_UNSANITIZED static uint32_t number_of(const struct tables *t, const char *name, uint32_t hash)
{
	const struct hash_table *table = t->hashes;
	const uint32_t *buckets = (const void *)&table->filter[table->n_filter];
	const uint32_t *hashes = buckets + table->n_buckets;
	uint32_t i = buckets[hash % table->n_buckets];

	if (i < table->first)
		return 0;
	for (;; i++) {
		if ((hashes[i - table->first] | 1) == (hash | 1) && is_wanted(t, i, name))
			return i;
		if (hashes[i - table->first] & 1) /* the last of its bucket */
			return 0;
	}
}

WV_UNSANITIZED static const char *version_of(const struct link_map *library, const struct tables *t,
					     uint32_t number)
{
	const uint8_t *at = section(library, DT_VERDEF);
	uint32_t index = t->versions ? t->versions[number] & VERSION_INDEX : VER_NDX_GLOBAL;
	const ElfW(Verdef) * definition;

	while (at && index > VER_NDX_GLOBAL) {
		definition = (const void *)at;
		if (definition->vd_ndx == index)
			return t->names +
			       ((const ElfW(Verdaux) *)(at + definition->vd_aux))->vda_name;
		at = definition->vd_next ? at + definition->vd_next : NULL;
	}
	return NULL;
}

WV_UNSANITIZED bool wv_symbol_find(const struct link_map *library, const char *name,
				   struct wv_symbol *found)
{
	struct tables t = {.hashes = section(library, DT_GNU_HASH)};
	uint32_t hash = hash_of(name), number;

	if (!t.hashes || !may_have(t.hashes, hash))
		return false;
	t.symbols = section(library, DT_SYMTAB);
	t.names = section(library, DT_STRTAB);
	t.versions = section(library, DT_VERSYM);
	number = number_of(&t, name, hash);
	if (!number)
		return false;
	found->at = (uint8_t *)library->l_addr + t.symbols[number].st_value;
	found->version = version_of(library, &t, number);
	return true;
}
