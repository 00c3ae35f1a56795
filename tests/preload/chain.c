/* SPDX-License-Identifier: BSD-2-Clause */
/* Every interposed call reaches the preload behind ours exactly once, with its result intact. */
#include "behind.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned int (*count)(enum call call);

#define ONCE(call, statement)                                                                      \
	do {                                                                                       \
		unsigned int before_ = count(call);                                                \
		statement;                                                                         \
		if (count(call) != before_ + 1) {                                                  \
			fprintf(stderr, "%s reached it %u times\n", #statement,                    \
				count(call) - before_);                                            \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define TRUE(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "not so: %s\n", #condition);                               \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

int main(void)
{
	int fd, copy, available, ends[2];
	char byte = 0;
	void *page;
	pid_t child;
	int status;

	count = (unsigned int (*)(enum call))dlsym(RTLD_DEFAULT, "behind_count");
	TRUE(count);
	ONCE(CALL_OPEN, fd = open("/dev/null", O_RDWR | O_CLOEXEC));
	TRUE(fd >= 0);
	ONCE(CALL_OPEN, copy = open64("/dev/null", O_RDONLY));
	ONCE(CALL_CLOSE, TRUE(close(copy) == 0));
	ONCE(CALL_OPENAT, copy = openat(AT_FDCWD, "/dev/null", O_RDONLY));
	ONCE(CALL_DUP2, TRUE(dup2(fd, copy) == copy));
	ONCE(CALL_DUP3, TRUE(dup3(fd, copy, O_CLOEXEC) == copy));
	ONCE(CALL_CLOSE, TRUE(close(copy) == 0));
	ONCE(CALL_DUP, copy = dup(fd));
	ONCE(CALL_CLOSE_RANGE, TRUE(close_range((unsigned int)copy, (unsigned int)copy, 0) == 0));
	ONCE(CALL_FCNTL, copy = fcntl(fd, F_DUPFD_CLOEXEC, 100));
	TRUE(copy >= 100);
	ONCE(CALL_FCNTL, TRUE(fcntl(copy, F_GETFD) == FD_CLOEXEC));
	ONCE(CALL_CLOSEFROM, closefrom(copy));
	TRUE(fcntl(copy, F_GETFD) < 0 && errno == EBADF);
	TRUE(pipe(ends) == 0);
	ONCE(CALL_WRITE, TRUE(write(ends[1], "x", 1) == 1));
	ONCE(CALL_IOCTL, TRUE(ioctl(ends[0], FIONREAD, &available) == 0 && available == 1));
	ONCE(CALL_READ, TRUE(read(ends[0], &byte, 1) == 1 && byte == 'x'));
	ONCE(CALL_MMAP, page = mmap(NULL, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	TRUE(page != MAP_FAILED && munmap(page, 1) == 0);
	ONCE(CALL_MMAP, TRUE(mmap64(NULL, 1, PROT_READ, MAP_SHARED, -1, 0) == MAP_FAILED));
	TRUE(errno == EBADF);
	ONCE(CALL_FORK, child = fork());
	if (!child)
		_exit(7);
	TRUE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	ONCE(CALL_CLOSE, TRUE(close(-1) < 0 && errno == EBADF));
	ONCE(CALL_OPEN, TRUE(open("/does/not/exist", O_RDONLY) < 0 && errno == ENOENT));
	return 0;
}
