/* SPDX-License-Identifier: BSD-2-Clause */
/* Identity of mapped files, against what readelf says of them. */
#include "base/build_id.h"

#include "fixture.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_the_program_s_own),
	    cmocka_unit_test(test_a_loaded_file_by_name_and_by_base),
	    cmocka_unit_test(test_two_files_differ),
	    cmocka_unit_test(test_what_is_not_loaded_has_none),
	    cmocka_unit_test(test_the_program_always_has_an_identity),
	};

	if (system("readelf --version >/dev/null 2>&1")) {
		fprintf(stderr, "skipped: no readelf to compare with (package binutils)\n");
		return SKIP;
	}
	return cmocka_run_group_tests_name("build_id", tests, NULL, NULL);
}
