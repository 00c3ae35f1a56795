/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of its types: true, false, nothing, and nonsense. */
#include "fixture.h"

#include "btf_files.h"
#include "daemon/devices/leasable.h"

#include <stdio.h>
#include <sys/stat.h>

#define MODULE "some_module"
#define TYPE   "some_type"

static char dir[] = "/tmp/test_kernel_types.XXXXXX";
static char folder[64];
static char why[256];
static unsigned int fds_before;

static int set_up(void **state)
{
	char path[64];

	(void)state;
	strcpy(strrchr(dir, '.'), ".XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/kernel", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(folder, sizeof(folder), "%s/kernel/btf", dir);
	assert_int_equal(mkdir(folder, 0755), 0);
	fds_before = count_fds();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	assert_int_equal(count_fds(), fds_before);
	return remove_tree(dir);
}

static int ask(void)
{
	*why = '\0';
	return wv_kernel_has_member(dir, MODULE, TYPE, "mm", why, sizeof(why));
}

/* Not known, for the reason given. */
static void expect_unknown(int err, const char *reason)
{
	assert_int_equal(ask(), err);
	assert_non_null(strstr(why, reason));
}

static void test_a_module(void **state)
{
	(void)state;
	write_btf(folder, MODULE, TYPE, "mm");
	assert_int_equal(ask(), 0);
	write_btf(folder, MODULE, TYPE, "mn");
	assert_int_equal(ask(), WV_NO_MEMBER);
}

static void test_built_in(void **state)
{
	(void)state;
	write_btf(folder, NULL, TYPE, "mm");
	assert_int_equal(ask(), 0);
	write_btf(folder, NULL, TYPE, "m");
	assert_int_equal(ask(), WV_NO_MEMBER);
}

static void test_no_such_type(void **state)
{
	(void)state;
	write_btf(folder, NULL, "another_type", "mm");
	expect_unknown(-ENOENT, MODULE ": No such file");
	write_btf(folder, MODULE, "another_type", "mm");
	expect_unknown(-ENOENT, MODULE ": no struct " TYPE);
	write_btf(folder, "another_module", TYPE, "mm");
	write_btf(folder, MODULE, "another_type", "mm");
	expect_unknown(-ENOENT, "no struct " TYPE);
}

static void test_no_files(void **state)
{
	char path[80];

	(void)state;
	expect_unknown(-ENOENT, "vmlinux: No such file");
	write_btf(folder, MODULE, TYPE, "mm");
	snprintf(path, sizeof(path), "%s/vmlinux", folder);
	assert_int_equal(unlink(path), 0);
	expect_unknown(-ENOENT, "vmlinux: No such file");
}

static void test_no_btf_at_all(void **state)
{
	(void)state;
	write_btf(folder, MODULE, TYPE, "mm");
	write_bytes(folder, MODULE, "", 0);
	assert_true(ask() < 0);
	assert_non_null(strstr(why, MODULE ": "));
	write_bytes(folder, MODULE, "warm verbs, warm verbs, warm verbs", 34);
	assert_true(ask() < 0);
	write_btf(folder, MODULE, TYPE, "mm");
	write_bytes(folder, "vmlinux",
		    "\x7f"
		    "ELF",
		    4);
	assert_true(ask() < 0);
	assert_non_null(strstr(why, "vmlinux: "));
}

static size_t read_bytes(const char *name, uint8_t *data, size_t capacity)
{
	char path[80];
	size_t bytes;
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	in = fopen(path, "re");
	assert_non_null(in);
	bytes = fread(data, 1, capacity, in);
	fclose(in);
	assert_uint_in_range(bytes, 1, capacity - 1);
	return bytes;
}

static void expect_any_answer(void)
{
	int answer = ask();

	assert_true(answer <= WV_NO_MEMBER);
	assert_true(answer >= 0 || *why);
}

static void spoil(const char *name, uint64_t *random)
{
	uint8_t good[1024], bad[1024];
	size_t bytes;

	write_btf(folder, MODULE, TYPE, "mm");
	bytes = read_bytes(name, good, sizeof(good));
	for (size_t n = 0; n < bytes; n++) {
		write_bytes(folder, name, good, n);
		assert_true(ask() < 0);
	}
	for (unsigned int i = 0; i < 500; i++) {
		memcpy(bad, good, bytes);
		for (unsigned int n = 1 + (unsigned int)(pseudo_random(random) % 4); n; n--)
			bad[pseudo_random(random) % bytes] = (uint8_t)pseudo_random(random);
		write_bytes(folder, name, bad, bytes);
		expect_any_answer();
	}
}

static void test_spoiled_files(void **state)
{
	uint64_t random = 1;

	(void)state;
	spoil(MODULE, &random);
	spoil("vmlinux", &random);
}

static void test_the_running_kernel(void **state)
{
	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK)) {
		print_message("this kernel has no BTF\n");
		skip();
	}
	assert_int_equal(
	    wv_kernel_has_member("/sys", "no_such_module", "task_struct", "mm", why, sizeof(why)),
	    0);
	assert_int_equal(
	    wv_kernel_has_member("/sys", "no_such_module", "task_struct", "mn", why, sizeof(why)),
	    WV_NO_MEMBER);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(test_a_module),	   TEST(test_built_in),	     TEST(test_no_such_type),
	    TEST(test_no_files),	   TEST(test_no_btf_at_all), TEST(test_spoiled_files),
	    TEST(test_the_running_kernel),
	};

	return cmocka_run_group_tests_name("kernel_types", tests, NULL, NULL);
}
