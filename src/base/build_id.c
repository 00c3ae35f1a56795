/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/build_id.h"

#include "base/base.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

/* Of a file that is not loaded; programs have some ten headers and two hundred bytes of notes. */
#define MAX_HEADERS 64
#define MAX_NOTES   4096

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
		size_t desc = name + (((size_t)note->n_namesz + 3) & ~(size_t)3);

		at = desc + (((size_t)note->n_descsz + 3) & ~(size_t)3);
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

static void hash_headers(const ElfW(Phdr) * headers, size_t n, struct wv_build_id *id)
{
	uint64_t hash = wv_hash(WV_HASH_START, headers, n * sizeof(headers[0]));

	memcpy(id->bytes, &hash, sizeof(hash));
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct search *search = data;

	(void)size;
	if (!matches(search, info))
		return 0;
	read_id(info, search->id);
	if (search->main_program && is_zero(search->id))
		hash_headers(info->dlpi_phdr, info->dlpi_phnum, search->id);
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

static int read_at(int fd, void *to, size_t bytes, uint64_t at)
{
	return pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes ? 0 : -ENOEXEC;
}

static int read_headers(int fd, ElfW(Phdr) headers[MAX_HEADERS], size_t *n)
{
	ElfW(Ehdr) elf;

	if (read_at(fd, &elf, sizeof(elf), 0) || memcmp(elf.e_ident, ELFMAG, SELFMAG) ||
	    elf.e_phentsize != sizeof(headers[0]) || elf.e_phnum > MAX_HEADERS)
		return -ENOEXEC;
	*n = elf.e_phnum;
	return read_at(fd, headers, *n * sizeof(headers[0]), elf.e_phoff);
}

int wv_id_of_file(int fd, struct wv_build_id *id)
{
	_Alignas(ElfW(Nhdr)) uint8_t notes[MAX_NOTES];
	ElfW(Phdr) headers[MAX_HEADERS];
	size_t n = 0;
	int err = read_headers(fd, headers, &n);

	memset(id, 0, sizeof(*id));
	for (size_t i = 0; !err && i < n; i++) {
		if (headers[i].p_type != PT_NOTE || headers[i].p_filesz > sizeof(notes))
			continue;
		err = read_at(fd, notes, headers[i].p_filesz, headers[i].p_offset);
		if (!err)
			scan_notes(notes, headers[i].p_filesz, id);
	}
	if (!err && is_zero(id))
		hash_headers(headers, n, id);
	return err;
}
