/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/container/libc_version.h"

#include "base/base.h"

#include <errno.h>
#include <gelf.h>
#include <stdio.h>

#define LIBC "libc.so.6"
/* The index of a version has 15 bits (.gnu.version); whoever made an image may claim more. */
#define MOST_VERSIONS 0x7fff

static void end_elf(Elf **elf)
{
	elf_end(*elf);
}

#define auto_elf wv_cleanup(end_elf) Elf

/* The data of the section of type @type, which has @n entries; its names are in section @names. */
static Elf_Data *versions(Elf *elf, GElf_Word type, size_t *n, size_t *names)
{
	GElf_Shdr header;

	for (Elf_Scn *at = elf_nextscn(elf, NULL); at; at = elf_nextscn(elf, at)) {
		if (!gelf_getshdr(at, &header) || header.sh_type != type)
			continue;
		*n = header.sh_info < MOST_VERSIONS ? header.sh_info : MOST_VERSIONS;
		*names = header.sh_link;
		return elf_getdata(at, NULL);
	}
	return NULL;
}

static bool is_defined(Elf *libc, const char *version)
{
	size_t n = 0, names = 0, at = 0;
	Elf_Data *data = versions(libc, SHT_GNU_verdef, &n, &names);
	GElf_Verdef definition;
	GElf_Verdaux first;

	while (data && n-- && gelf_getverdef(data, (int)at, &definition) &&
	       gelf_getverdaux(data, (int)(at + definition.vd_aux), &first)) {
		const char *name = elf_strptr(libc, names, first.vda_name);

		if (name && !strcmp(name, version))
			return true;
		if (!definition.vd_next) /* the last one, whatever their number is said to be */
			return false;
		at += definition.vd_next;
	}
	return false;
}

/* What @library needs of one file, whose first entry is at @at of @data. */
static int compare_one(Elf *library, Elf_Data *data, size_t names, size_t at, size_t n, Elf *libc,
		       char *missing, size_t capacity)
{
	GElf_Vernaux needed;

	while (n-- && gelf_getvernaux(data, (int)at, &needed)) {
		const char *name = elf_strptr(library, names, needed.vna_name);

		if (!name)
			return -ENOEXEC;
		if (!is_defined(libc, name)) {
			snprintf(missing, capacity, "%s", name);
			return WV_LIBC_TOO_OLD;
		}
		at += needed.vna_next;
	}
	return WV_LIBC_FITS;
}

static int compare(Elf *library, Elf *libc, char *missing, size_t capacity)
{
	size_t n = 0, names = 0, at = 0;
	Elf_Data *data = versions(library, SHT_GNU_verneed, &n, &names);
	GElf_Verneed file;

	while (data && n-- && gelf_getverneed(data, (int)at, &file)) {
		const char *name = elf_strptr(library, names, file.vn_file);

		if (name && !strcmp(name, LIBC))
			return compare_one(library, data, names, at + file.vn_aux, file.vn_cnt,
					   libc, missing, capacity);
		at += file.vn_next;
	}
	return -ENOEXEC;
}

int wv_libc_fits(int library, int libc, char *missing, size_t capacity)
{
	elf_version(EV_CURRENT);
	auto_elf *ours = elf_begin(library, ELF_C_READ, NULL);
	auto_elf *theirs = elf_begin(libc, ELF_C_READ, NULL);
	GElf_Ehdr our_header, their_header;

	if (!gelf_getehdr(ours, &our_header) || !gelf_getehdr(theirs, &their_header))
		return -ENOEXEC;
	if (our_header.e_machine != their_header.e_machine ||
	    our_header.e_ident[EI_CLASS] != their_header.e_ident[EI_CLASS])
		return WV_LIBC_OTHER_MACHINE;
	return compare(ours, theirs, missing, capacity);
}
