/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/container/libc_version.h"

#include "base/base.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <unistd.h>

#define LIBC "libc.so.6"
/* The index of a version has 15 bits (.gnu.version); whoever made an image may claim more. */
#define MOST_VERSIONS 0x7fff
/* Of a file, at once. The headers, versions and names of a libc are some 10 KiB each. */
#define MOST_BYTES (1 << 20)

/* Bytes of a file, and a zero after them, which ends a name that has no end. */
struct part {
	char *bytes;
	uint64_t size;
};

/* The entries of a section of versions, how many it says there are, and their names. */
struct versions {
	struct part entries, names;
	size_t n;
};

static void free_part(struct part *part)
{
	free(part->bytes);
}

static void free_versions(struct versions *versions)
{
	free_part(&versions->entries);
	free_part(&versions->names);
}

static int read_part(int file, uint64_t at, uint64_t size, struct part *part)
{
	ssize_t n;

	if (size > MOST_BYTES)
		return -EFBIG;
	if (!(part->bytes = calloc(1, size + 1)))
		return -ENOMEM;
	part->size = size;
	n = pread(file, part->bytes, size, (off_t)at);
	if (n < 0)
		return -errno;
	return (uint64_t)n == size ? 0 : -ENOEXEC;
}

/* Entries are copied: nothing says that those of an image are aligned. */
static bool take(const struct part *part, uint64_t at, void *entry, size_t size)
{
	if (at > part->size || size > part->size - at)
		return false;
	memcpy(entry, part->bytes + at, size);
	return true;
}

static bool is_named(const struct part *names, uint64_t at, const char *name)
{
	return at < names->size && !strcmp(names->bytes + at, name);
}

static int read_header(int file, ElfW(Ehdr) * header)
{
	ssize_t n = pread(file, header, sizeof(*header), 0);

	if (n < 0)
		return -errno;
	return n == sizeof(*header) && !memcmp(header->e_ident, ELFMAG, SELFMAG) ? 0 : -ENOEXEC;
}

/* The section of type @type; @versions stays empty if there is none. */
static int read_versions(int file, const ElfW(Ehdr) * header, uint32_t type,
			 struct versions *versions)
{
	wv_cleanup(free_part) struct part sections = {0};
	ElfW(Shdr) at, names;
	int err;

	if (header->e_shentsize != sizeof(at))
		return -ENOEXEC;
	err = read_part(file, header->e_shoff, header->e_shnum * sizeof(at), &sections);
	for (uint64_t i = 0; !err && take(&sections, i * sizeof(at), &at, sizeof(at)); i++) {
		if (at.sh_type != type)
			continue;
		if (!take(&sections, at.sh_link * (uint64_t)sizeof(at), &names, sizeof(names)))
			return -ENOEXEC;
		versions->n = at.sh_info < MOST_VERSIONS ? at.sh_info : MOST_VERSIONS;
		err = read_part(file, at.sh_offset, at.sh_size, &versions->entries);
		return err ? err
			   : read_part(file, names.sh_offset, names.sh_size, &versions->names);
	}
	return err;
}

static bool is_defined(const struct versions *libc, const char *version)
{
	ElfW(Verdef) definition;
	ElfW(Verdaux) first;
	uint64_t at = 0;

	for (size_t n = libc->n; n--; at += definition.vd_next) {
		if (!take(&libc->entries, at, &definition, sizeof(definition)) ||
		    !take(&libc->entries, at + definition.vd_aux, &first, sizeof(first)))
			return false;
		if (is_named(&libc->names, first.vda_name, version))
			return true;
		if (!definition.vd_next) /* the last one, whatever their number is said to be */
			return false;
	}
	return false;
}

/* What @library needs of one file, whose first entry is at @at. */
static int compare_one(const struct versions *library, uint64_t at, size_t n,
		       const struct versions *libc, char *missing, size_t capacity)
{
	ElfW(Vernaux) needed;

	for (; n-- && take(&library->entries, at, &needed, sizeof(needed)); at += needed.vna_next) {
		if (needed.vna_name >= library->names.size)
			return -ENOEXEC;
		if (!is_defined(libc, library->names.bytes + needed.vna_name)) {
			snprintf(missing, capacity, "%s", library->names.bytes + needed.vna_name);
			return WV_LIBC_TOO_OLD;
		}
	}
	return WV_LIBC_FITS;
}

static int compare(const struct versions *library, const struct versions *libc, char *missing,
		   size_t capacity)
{
	ElfW(Verneed) file;
	uint64_t at = 0;

	for (size_t n = library->n; n--; at += file.vn_next) {
		if (!take(&library->entries, at, &file, sizeof(file)))
			return -ENOEXEC;
		if (is_named(&library->names, file.vn_file, LIBC))
			return compare_one(library, at + file.vn_aux, file.vn_cnt, libc, missing,
					   capacity);
	}
	return -ENOEXEC;
}

int wv_libc_fits(int library, int libc, char *missing, size_t capacity)
{
	wv_cleanup(free_versions) struct versions needed = {0}, defined = {0};
	ElfW(Ehdr) ours, theirs;
	int err = read_header(library, &ours);

	if (err || (err = read_header(libc, &theirs)))
		return err;
	if (ours.e_machine != theirs.e_machine ||
	    memcmp(ours.e_ident + EI_CLASS, theirs.e_ident + EI_CLASS, 2)) /* and EI_DATA */
		return WV_LIBC_OTHER_MACHINE;
	if ((err = read_versions(library, &ours, SHT_GNU_verneed, &needed)) ||
	    (err = read_versions(libc, &theirs, SHT_GNU_verdef, &defined)))
		return err;
	return compare(&needed, &defined, missing, capacity);
}
