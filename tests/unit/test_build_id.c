/* SPDX-License-Identifier: BSD-2-Clause */
/* Identity of mapped files, against what readelf says of them. */
#include "base/build_id.h"

#include "fixture.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>

#define SKIP 77

/* The build-id of the file at @path as readelf prints it; empty if there is none. */
static void ask_readelf(const char *path, char *hex, size_t bytes)
{
	char command[1024], line[256];
	FILE *out;

	hex[0] = 0;
	snprintf(command, sizeof(command), "readelf -n '%s' 2>/dev/null", path);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out)) {
		char *id = strstr(line, "Build ID: ");

		if (id)
			snprintf(hex, bytes, "%.*s", (int)strcspn(id + 10, "\n"), id + 10);
	}
	pclose(out);
}

static void assert_id(const struct wv_build_id *id, const char *path)
{
	char expected[128], hex[2 * sizeof(id->bytes) + 1];

	ask_readelf(path, expected, sizeof(expected));
	if (!expected[0])
		skip();
	for (size_t i = 0; i < sizeof(id->bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	if (strlen(expected) < strlen(hex)) /* a shorter kind of id is padded with zeroes */
		assert_int_equal(strspn(hex + strlen(expected), "0"),
				 strlen(hex) - strlen(expected));
	assert_memory_equal(hex, expected,
			    strlen(expected) < strlen(hex) ? strlen(expected) : strlen(hex));
}

static void test_the_program_s_own(void **state)
{
	char path[512] = {0};
	struct wv_build_id id;

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	wv_id_of_program(&id);
	assert_id(&id, path);
}

/* Where the shared file of @symbol is mapped, and its path. */
static struct link_map *map_of(void *symbol)
{
	struct link_map *map = NULL;
	Dl_info info;

	assert_true(dladdr1(symbol, &info, (void **)&map, RTLD_DL_LINKMAP));
	assert_non_null(map);
	return map;
}

static void test_a_loaded_file_by_name_and_by_base(void **state)
{
	struct link_map *map = map_of(dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
	struct wv_build_id by_name, by_base;

	(void)state;
	wv_id_of_loaded("libcmocka.so", 0, &by_name);
	assert_id(&by_name, map->l_name);
	wv_id_of_loaded(NULL, map->l_addr, &by_base);
	assert_memory_equal(&by_name, &by_base, sizeof(by_name));
}

static void test_two_files_differ(void **state)
{
	struct wv_build_id program, libc;

	(void)state;
	wv_id_of_program(&program);
	wv_id_of_loaded("libc.so", 0, &libc);
	assert_memory_not_equal(&program, &libc, sizeof(program));
}

static void test_what_is_not_loaded_has_none(void **state)
{
	static const struct wv_build_id none;
	struct wv_build_id id;

	(void)state;
	memset(&id, 0xee, sizeof(id));
	wv_id_of_loaded("libnothing.so", 0, &id);
	assert_memory_equal(&id, &none, sizeof(id));
	memset(&id, 0xee, sizeof(id));
	wv_id_of_loaded(NULL, 0x1234, &id);
	assert_memory_equal(&id, &none, sizeof(id));
}

static void test_the_program_always_has_an_identity(void **state)
{
	static const struct wv_build_id none;
	struct wv_build_id id, again;

	(void)state;
	wv_id_of_program(&id);
	wv_id_of_program(&again);
	assert_memory_not_equal(&id, &none, sizeof(id));
	assert_memory_equal(&id, &again, sizeof(id));
}

static void test_a_program_before_it_is_started(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct wv_build_id running, file;

	(void)state;
	wv_id_of_program(&running);
	assert_int_equal(wv_id_of_file(fd, &file), 0);
	assert_memory_equal(&running, &file, sizeof(file));
	close(fd);
}

#define START_BYTES 8192

/* The start of this program, in memory that a test may change. */
static int copy_of_start(uint8_t start[START_BYTES])
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to = memfd_create("elf", 0);

	assert_int_equal(pread(from, start, START_BYTES, 0), START_BYTES);
	assert_int_equal(write(to, start, START_BYTES), START_BYTES);
	close(from);
	return to;
}

/* The headers of a program without notes are hashed, as those of the running one are. */
static void test_a_program_without_an_id(void **state)
{
	static uint8_t start[START_BYTES];
	int fd = copy_of_start(start);
	ElfW(Ehdr) *elf = (ElfW(Ehdr) *)start;
	ElfW(Phdr) *headers = (ElfW(Phdr) *)(start + elf->e_phoff);
	struct wv_build_id id, expected = {0};
	uint64_t hash;

	(void)state;
	for (unsigned int i = 0; i < elf->e_phnum; i++)
		if (headers[i].p_type == PT_NOTE)
			headers[i].p_type = PT_NULL;
	hash = wv_hash(WV_HASH_START, headers, elf->e_phnum * sizeof(*headers));
	memcpy(expected.bytes, &hash, sizeof(hash));
	assert_int_equal(pwrite(fd, start, START_BYTES, 0), START_BYTES);
	assert_int_equal(wv_id_of_file(fd, &id), 0);
	assert_memory_equal(&id, &expected, sizeof(id));
	close(fd);
}

static void test_what_is_no_program(void **state)
{
	static const char *const starts[] = {"", "#!/bin/sh\n", "\177ELF"};
	struct wv_build_id id;

	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(starts); i++) {
		int fd = memfd_create("text", 0);

		assert_int_equal(write(fd, starts[i], strlen(starts[i])), strlen(starts[i]));
		assert_int_equal(wv_id_of_file(fd, &id), -ENOEXEC);
		close(fd);
	}
}

/* Whatever a file contains is read within its buffers: for ASan to see. */
static void test_programs_that_lie(void **state)
{
	static uint8_t start[START_BYTES];
	int fd = copy_of_start(start);
	struct wv_build_id id;

	(void)state;
	for (size_t at = 0; at < 1024; at++) {
		static const uint8_t lies[] = {0, 1, 0x7f, 0xfe, 0xff};

		for (size_t i = 0; i < sizeof(lies); i++) {
			int err;

			assert_int_equal(pwrite(fd, &lies[i], 1, (off_t)at), 1);
			err = wv_id_of_file(fd, &id);
			assert_true(err == 0 || err == -ENOEXEC);
		}
		assert_int_equal(pwrite(fd, start + at, 1, (off_t)at), 1);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_program_s_own),
	    cmocka_unit_test(test_a_loaded_file_by_name_and_by_base),
	    cmocka_unit_test(test_two_files_differ),
	    cmocka_unit_test(test_what_is_not_loaded_has_none),
	    cmocka_unit_test(test_the_program_always_has_an_identity),
	    cmocka_unit_test(test_a_program_before_it_is_started),
	    cmocka_unit_test(test_a_program_without_an_id),
	    cmocka_unit_test(test_what_is_no_program),
	    cmocka_unit_test(test_programs_that_lie),
	};

	if (system("readelf --version >/dev/null 2>&1")) {
		fprintf(stderr, "skipped: no readelf to compare with (package binutils)\n");
		return SKIP;
	}
	return cmocka_run_group_tests_name("build_id", tests, NULL, NULL);
}
