/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/numbers.h"

#include "base/base.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIST_BYTES 2048

static int compare(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

void wv_numbers_sort(int *numbers, unsigned int n)
{
	qsort(numbers, n, sizeof(*numbers), compare);
}

/* musl has no function for it. */
static int close_range_of(unsigned int first, unsigned int last)
{
	return syscall(SYS_close_range, first, last, 0) ? -errno : 0;
}

int wv_numbers_close_others(const int *stay, unsigned int n)
{
	unsigned int next = 0;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int number = (unsigned int)stay[i];
		int err = number > next ? close_range_of(next, number - 1) : 0;

		if (err)
			return err;
		next = number + 1;
	}
	return close_range_of(next, UINT_MAX);
}

static int each_of(const char *list, const char *end, int folder, int (*each)(void *data, int fd),
		   void *data)
{
	int found = 0;

	while (list < end && !found) {
		const struct dirent *entry = (const struct dirent *)list; /* as the kernel has it */
		int fd = *entry->d_name == '.' ? folder : atoi(entry->d_name);

		if (fd != folder)
			found = each(data, fd);
		list += entry->d_reclen;
	}
	return found;
}

int wv_numbers_each(int (*each)(void *data, int fd), void *data)
{
	wv_auto_fd folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent) char list[LIST_BYTES];
	ssize_t n = folder < 0 ? -1 : 1;
	int found = 0;

	while (n > 0 && !found) {
		n = syscall(SYS_getdents64, folder, list, sizeof(list));
		found = each_of(list, list + (n < 0 ? 0 : n), folder, each, data);
	}
	return n < 0 ? -errno : found;
}
