/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * With real files: the library, this process's libc, and damaged copies. LIBRARY is the library's
 * path.
 */
#include "base/base.h"
#include "cli/container/libc_version.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char missing[64];

static int find_libc(struct dl_phdr_info *info, size_t bytes, void *path)
{
	(void)bytes;
	if (strstr(info->dlpi_name, "/libc.so.6"))
		*(const char **)path = info->dlpi_name;
	return 0;
}

static int open_libc(void)
{
	const char *path = "";

	dl_iterate_phdr(find_libc, &path);
	return open(path, O_RDONLY);
}

static int fits(int library, int libc)
{
	return wv_libc_fits(library, libc, missing, sizeof(missing));
}

/* A copy of this process's libc, in memory, which is changed by the caller. */
static uint8_t *copy_libc(int *fd, size_t *bytes)
{
	wv_auto_fd libc = open_libc();
	struct stat st;
	void *copy;

	assert_return_code(fstat(libc, &st), errno);
	*bytes = (size_t)st.st_size;
	*fd = memfd_create("libc", 0);
	assert_return_code(ftruncate(*fd, st.st_size), errno);
	copy = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	assert_ptr_not_equal(copy, MAP_FAILED);
	assert_int_equal(pread(libc, copy, *bytes, 0), st.st_size);
	return copy;
}

static void test_own_libc_fits(void **state)
{
	wv_auto_fd library = open(LIBRARY, O_RDONLY), libc = open_libc();

	(void)state;
	assert_int_equal(fits(library, libc), WV_LIBC_FITS);
}

/* A library in the place of libc that defines other versions. */
static void test_missing_version_is_named(void **state)
{
	wv_auto_fd library = open(LIBRARY, O_RDONLY), other = open(LIBRARY, O_RDONLY);

	(void)state;
	assert_int_equal(fits(library, other), WV_LIBC_TOO_OLD);
	assert_memory_equal(missing, "GLIBC_", 6);
}

static void test_other_machine(void **state)
{
	wv_auto_fd library = open(LIBRARY, O_RDONLY), libc = -1;
	size_t bytes;
	uint8_t *copy = copy_libc(&libc, &bytes);

	(void)state;
	((ElfW(Ehdr) *)copy)->e_machine = EM_SPARC;
	assert_int_equal(fits(library, libc), WV_LIBC_OTHER_MACHINE);
	munmap(copy, bytes);
}

static void test_no_elf_file(void **state)
{
	wv_auto_fd library = open(LIBRARY, O_RDONLY), text = open("/etc/passwd", O_RDONLY);
	wv_auto_fd empty = memfd_create("empty", 0);

	(void)state;
	assert_int_equal(fits(library, text), -ENOEXEC);
	assert_int_equal(fits(library, empty), -ENOEXEC);
	assert_int_equal(fits(text, library), -ENOEXEC);
	assert_int_equal(fits(library, -1), -EBADF);
}

/* The image's libc may have been made to harm whoever reads it. */
static void test_damaged_files(void **state)
{
	wv_auto_fd library = open(LIBRARY, O_RDONLY), libc = -1;
	size_t bytes;
	uint8_t *copy = copy_libc(&libc, &bytes);
	ElfW(Ehdr) *header = (void *)copy;
	size_t table = header->e_shoff, each = header->e_shentsize * (size_t)header->e_shnum;
	uint32_t random = 1;

	(void)state;
	for (unsigned int i = 0; i < 2000; i++) {
		random = random * 1664525 + 1013904223;
		size_t at = table + (random >> 8) % each;
		uint8_t before = copy[at];

		copy[at] = (uint8_t)random ^ 0xff;
		fits(library, libc);
		copy[at] = before;
	}
	assert_int_equal(fits(library, libc), WV_LIBC_FITS);
	assert_return_code(ftruncate(libc, (off_t)table), errno);
	assert_int_not_equal(fits(library, libc), WV_LIBC_FITS);
	munmap(copy, bytes);
}

/* Where @copy defines its versions. */
static ElfW(Shdr) * find_definitions(uint8_t *copy)
{
	ElfW(Ehdr) *header = (void *)copy;
	ElfW(Shdr) *sections = (void *)(copy + header->e_shoff);

	for (unsigned int i = 0; i < header->e_shnum; i++)
		if (sections[i].sh_type == SHT_GNU_verdef)
			return &sections[i];
	fail();
	return NULL;
}

/* Definitions that follow each other for ever; without a limit this test is killed. */
static void test_definitions_without_end(void **state)
{
	wv_auto_fd library = open(LIBRARY, O_RDONLY), libc = -1;
	size_t bytes;
	uint8_t *copy = copy_libc(&libc, &bytes);
	ElfW(Shdr) *section = find_definitions(copy);
	ElfW(Verdef) *first = (void *)(copy + section->sh_offset), *second;

	(void)state;
	second = (void *)((uint8_t *)first + first->vd_next);
	section->sh_info = UINT32_MAX;
	alarm(10);
	assert_int_equal(fits(library, libc), WV_LIBC_FITS);
	second->vd_next = -first->vd_next; /* offsets are taken modulo 2^32 */
	assert_int_equal(fits(library, libc), WV_LIBC_TOO_OLD);
	first->vd_next = 0;
	assert_int_equal(fits(library, libc), WV_LIBC_TOO_OLD);
	alarm(0);
	munmap(copy, bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_own_libc_fits), cmocka_unit_test(test_missing_version_is_named),
	    cmocka_unit_test(test_other_machine), cmocka_unit_test(test_no_elf_file),
	    cmocka_unit_test(test_damaged_files), cmocka_unit_test(test_definitions_without_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
