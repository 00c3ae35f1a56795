/* SPDX-License-Identifier: BSD-2-Clause */
/* What large pages do to the memory of a process: nothing that it can see, but in smaps. */
#include "fixture.h"

#include "base/base.h"
#include "template/large_pages.h"

#include <sys/mman.h>
#include <sys/wait.h>

#define LARGE ((size_t)2 << 20)
#define BYTES (16 * LARGE)

static char *map(void)
{
	char *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static void fill(char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += wv_page_size())
		at[i] = (char)(1 + i / wv_page_size() % 100);
}

static void check(const char *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += wv_page_size())
		assert_int_equal(at[i], 1 + i / wv_page_size() % 100);
}

/* Of the mapping that has @at, in KB: a line of smaps. */
static unsigned long kilobytes(const char *at, const char *format)
{
	wv_auto_file smaps = fopen("/proc/self/smaps", "re");
	size_t start = 0, end = 0;
	unsigned long found = 0, n;
	char line[256];

	while (fgets(line, sizeof(line), smaps)) {
		if (strchr(line, '-') && sscanf(line, "%zx-%zx ", &start, &end) == 2)
			continue;
		if ((size_t)at >= start && (size_t)at < end && sscanf(line, format, &n) == 1)
			found = n;
	}
	return found;
}

static void test_memory_is_as_before(void **state)
{
	char *at = map(), *longer;

	(void)state;
	fill(at, BYTES);
	wv_large_pages_use();
	if (!kilobytes(at, "AnonHugePages: %lu kB"))
		print_message("skipped: 1: this kernel has made no large pages\n");
	check(at, BYTES);
	longer = mremap(at, BYTES, 2 * BYTES, MREMAP_MAYMOVE);
	assert_ptr_not_equal(longer, MAP_FAILED);
	check(longer, BYTES);
	assert_int_equal(longer[BYTES], 0);
	assert_int_equal(madvise(longer, BYTES, MADV_DONTNEED), 0);
	assert_int_equal(longer[wv_page_size()], 0);
	munmap(longer, 2 * BYTES);
}

static void test_children_have_their_own(void **state)
{
	char *at = map();
	int status;
	pid_t pid;

	(void)state;
	fill(at, BYTES);
	wv_large_pages_use();
	pid = fork();
	if (!pid) {
		memset(at, 0, BYTES);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	check(at, BYTES);
	munmap(at, BYTES);
}

/* Memory that is mostly untouched stays so. */
static void test_holes(void **state)
{
	char *at = map();

	(void)state;
	for (size_t i = 0; i < BYTES; i += LARGE)
		at[i] = 1;
	wv_large_pages_use();
	assert_true(kilobytes(at, "Rss: %lu kB") < BYTES / 1024 / 4);
	munmap(at, BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_memory_is_as_before),
	    cmocka_unit_test(test_children_have_their_own),
	    cmocka_unit_test(test_holes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
