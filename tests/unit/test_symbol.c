/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions in the symbol tables of loaded libraries, against what nm says of their files. */
#include "preload/core/symbol.h"

#include "fixture.h"

#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>

#define SKIP 77
#define MANY 1000 /* functions: libc has more */

static struct link_map *map_of(const char *library)
{
	void *handle = dlopen(library, RTLD_LAZY);
	struct link_map *map = NULL;

	assert_non_null(handle);
	assert_int_equal(dlinfo(handle, RTLD_DI_LINKMAP, &map), 0);
	return map;
}

/* One line of nm: "0000000000085500 T dlopen@@GLIBC_2.34". False: it names no function. */
static bool check_line(const struct link_map *map, char *line)
{
	char name[256], kind;
	char *version;
	unsigned long long at;
	struct wv_symbol found;

	if (sscanf(line, "%llx %c %255s", &at, &kind, name) != 3 || kind != 'T')
		return false;
	version = strchr(name, '@');
	if (!version || strncmp(version, "@@", 2))
		return false; /* hidden: another version may be there, too */
	*version = '\0';
	assert_true(wv_symbol_find(map, name, &found));
	assert_ptr_equal(found.at, map->l_addr + at);
	assert_string_equal(found.version, version + 2);
	return true;
}

static void check_library(const char *library, unsigned int least)
{
	const struct link_map *map = map_of(library);
	char command[1024], line[512];
	unsigned int functions = 0;
	FILE *nm;

	snprintf(command, sizeof(command), "nm -D --defined-only '%s'", map->l_name);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm))
		functions += check_line(map, line);
	assert_int_equal(pclose(nm), 0);
	assert_true(functions >= least);
}

static void test_every_function(void **state)
{
	(void)state;
	check_library("libc.so.6", MANY);
	check_library("libibverbs.so.1", 50);
}

static void test_what_is_not_there(void **state)
{
	const struct link_map *libc = map_of("libc.so.6");
	struct wv_symbol found;

	(void)state;
	assert_false(wv_symbol_find(libc, "", &found));
	assert_false(wv_symbol_find(libc, "no_such_function", &found));
	assert_false(wv_symbol_find(libc, "environ", &found));	      /* no function */
	assert_false(wv_symbol_find(libc, "__tls_get_addr", &found)); /* another library's */
	assert_false(wv_symbol_find(map_of("libibverbs.so.1"), "close", &found));
}

/* cmocka's functions may have none. */
static void test_without_versions(void **state)
{
	const struct link_map *map = map_of("libcmocka.so.0");
	struct wv_symbol found;

	(void)state;
	assert_true(wv_symbol_find(map, "_cmocka_run_group_tests", &found));
	assert_ptr_equal(found.at, dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests"));
}

/* glibc leaves the addresses of the kernel's library (the vDSO) as they are in the file. */
static void test_the_kernel_s_library(void **state)
{
	uintptr_t base = getauxval(AT_SYSINFO_EHDR);
	const struct link_map *map = map_of("libc.so.6");
	struct wv_symbol found;

	(void)state;
	while (map && (!base || map->l_addr != base))
		map = map->l_prev;
	if (!map)
		skip();
	assert_false(wv_symbol_find(map, "dlsym", &found));
#ifdef __x86_64__
	assert_true(wv_symbol_find(map, "__vdso_clock_gettime", &found));
	assert_string_equal(found.version, "LINUX_2.6");
	assert_true((uintptr_t)found.at > base);
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_function),
	    cmocka_unit_test(test_what_is_not_there),
	    cmocka_unit_test(test_without_versions),
	    cmocka_unit_test(test_the_kernel_s_library),
	};

	if (system("nm --version >/dev/null 2>&1")) {
		fprintf(stderr, "skipped: no nm to compare with (package binutils)\n");
		return SKIP;
	}
	return cmocka_run_group_tests_name("symbol", tests, NULL, NULL);
}
