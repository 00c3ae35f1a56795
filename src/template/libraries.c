/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/libraries.h"

#include "base/base.h"
#include "template/files.h"
#include "template/places.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>

#define PRELOAD "/etc/ld.so.preload"

static const struct link_map *first(void)
{
	return _r_debug.r_map;
}

/* The value of an entry of the program's dynamic section, or 0. */
static ElfW(Addr) entry_of(const struct link_map *map, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry->d_un.d_ptr;
	return 0;
}

static bool imports(const struct link_map *map, ElfW(Sxword) table, ElfW(Sxword) bytes,
		    const char *name)
{
	const ElfW(Rela) *rela = (const void *)entry_of(map, table);
	const ElfW(Sym) *symbols = (const void *)entry_of(map, DT_SYMTAB);
	const char *strings = (const void *)entry_of(map, DT_STRTAB);
	size_t n = entry_of(map, bytes) / sizeof(*rela);

	for (size_t i = 0; rela && symbols && strings && i < n; i++) {
		size_t symbol = ELF64_R_SYM(rela[i].r_info);

		if (symbol && !strcmp(strings + symbols[symbol].st_name, name))
			return true;
	}
	return false;
}

bool wv_program_has_main(void)
{
	static const char name[] = "__libc_start_main";

	return imports(first(), DT_RELA, DT_RELASZ, name) ||
	       imports(first(), DT_JMPREL, DT_PLTRELSZ, name);
}

/* Of a folder of libraries: those for processors with more instructions (ld.so(8)). */
static const char *const inner_folders[] = {
    "",
    "/glibc-hwcaps",
    "/glibc-hwcaps/x86-64-v2",
    "/glibc-hwcaps/x86-64-v3",
    "/glibc-hwcaps/x86-64-v4",
    /* up to glibc 2.36 */
    "/tls",
    "/haswell",
    "/x86_64",
    "/aarch64",
    "/atomics",
};

/* A library may appear in it that would be found before the one that was loaded. */
static int watch(const char *folder)
{
	int err = wv_file_watch(folder);

	return err == -ENOENT || err == -ENOTDIR ? 0 : err;
}

static int note_path(const char *path)
{
	return *path == '/' ? wv_place_note(path) : -EINVAL;
}

static int note_folder(const char *folder)
{
	char path[PATH_MAX];
	int err = note_path(folder);

	for (size_t i = 0; i < WV_ARRAY_SIZE(inner_folders) && !err; i++) {
		snprintf(path, sizeof(path), "%s%s", folder, inner_folders[i]);
		err = watch(path);
	}
	return err;
}

static int note_folders_of(struct link_map *map)
{
	wv_auto_free Dl_serinfo *folders = NULL;
	Dl_serinfo head;
	int err = 0;

	if (dlinfo(map, RTLD_DI_SERINFOSIZE, &head))
		return -EINVAL;
	folders = malloc(head.dls_size);
	if (!folders)
		return -ENOMEM;
	if (dlinfo(map, RTLD_DI_SERINFOSIZE, folders) || dlinfo(map, RTLD_DI_SERINFO, folders))
		return -EINVAL;
	for (unsigned int i = 0; i < folders->dls_cnt && !err; i++)
		err = note_folder(folders->dls_serpath[i].dls_name);
	return err;
}

int wv_libraries_note(void)
{
	int err = wv_place_note(PRELOAD);

	for (struct link_map *map = _r_debug.r_map; map && !err; map = map->l_next) {
		if (strchr(map->l_name, '/')) /* others: the program itself, and the kernel's */
			err = note_path(map->l_name);
		if (!err)
			err = note_folders_of(map);
	}
	return err;
}
