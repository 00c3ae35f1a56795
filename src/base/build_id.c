/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/build_id.h"

#include "base/base.h"

#include <elf.h>
#include <link.h>
#include <string.h>

struct search {
	const char *prefix;
	uintptr_t base;
	int main_program;
	struct wv_build_id *id;
};

static void scan_notes(const uint8_t *notes, size_t bytes, struct wv_build_id *id)
{
	size_t at = 0;

	while (at + sizeof(ElfW(Nhdr)) <= bytes) {
		const ElfW(Nhdr) *note = (const void *)(notes + at);
		size_t name = at + sizeof(*note);
		size_t desc = name + ((note->n_namesz + 3u) & ~3u);

		at = desc + ((note->n_descsz + 3u) & ~3u);
		if (at > bytes)
			return;
		if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != sizeof("GNU") ||
		    memcmp(notes + name, "GNU", sizeof("GNU")))
			continue;
		memcpy(id->bytes, notes + desc,
		       note->n_descsz < sizeof(id->bytes) ? note->n_descsz : sizeof(id->bytes));
		return;
	}
}

static void read_id(const struct dl_phdr_info *info, struct wv_build_id *id)
{
	for (unsigned int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			scan_notes((const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				   info->dlpi_phdr[i].p_memsz, id);
}

static int is_zero(const struct wv_build_id *id)
{
	static const struct wv_build_id zero;

	return !memcmp(id, &zero, sizeof(zero));
}

static int matches(const struct search *search, const struct dl_phdr_info *info)
{
	const char *slash;

	if (search->main_program)
		return 1; /* the first that is visited */
	if (!search->prefix)
		return info->dlpi_addr == search->base;
	slash = strrchr(info->dlpi_name, '/');
	return !strncmp(slash ? slash + 1 : info->dlpi_name, search->prefix,
			strlen(search->prefix));
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;
	uint64_t hash;

	(void)size;
	if (!matches(search, info))
		return 0;
	read_id(info, search->id);
	if (search->main_program && is_zero(search->id)) {
		hash = wv_hash(WV_HASH_START, info->dlpi_phdr,
			       info->dlpi_phnum * sizeof(info->dlpi_phdr[0]));
		memcpy(search->id->bytes, &hash, sizeof(hash));
	}
	return 1;
}

void wv_id_of_program(struct wv_build_id *id)
{
	struct search search = {.main_program = 1, .id = id};

	memset(id, 0, sizeof(*id));
	dl_iterate_phdr(visit, &search);
}

void wv_id_of_loaded(const char *prefix, uintptr_t base, struct wv_build_id *id)
{
	struct search search = {.prefix = prefix, .base = base, .id = id};

	memset(id, 0, sizeof(*id));
	dl_iterate_phdr(visit, &search);
}
