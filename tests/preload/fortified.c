/* SPDX-License-Identifier: BSD-2-Clause */
/* What libc's checks do to a program that was built with _FORTIFY_SOURCE and is wrong. */
#include "support/check.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);

static volatile int creates = O_CREAT | O_RDWR; /* that needs a mode */

static void open_2(void)
{
	__open_2("/nonexistent/file", creates);
}

static void open64_2(void)
{
	__open64_2("/nonexistent/file", creates);
}

static void openat_2(void)
{
	__openat_2(AT_FDCWD, "/nonexistent/file", creates);
}

static void openat64_2(void)
{
	__openat64_2(AT_FDCWD, "/nonexistent/file", creates);
}

static void read_chk(void)
{
	char buffer[4];

	__read_chk(STDIN_FILENO, buffer, sizeof(buffer) + 1, sizeof(buffer));
}

/* libc ends a process that does @wrong, and says why on the terminal or to stderr. */
static void check(void (*wrong)(void), const char *said)
{
	char text[200] = "";
	int ends[2], status;
	pid_t child;

	OK(pipe(ends));
	child = DONE(fork());
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		setsid(); /* no terminal */
		wrong();
		_exit(0);
	}
	close(ends[1]);
	EXPECT(waitpid(child, &status, 0) == child);
	DONE(read(ends[0], text, sizeof(text) - 1));
	close(ends[0]);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT || !strstr(text, said))
		give_up(__FILE__, __LINE__, "status %#x, not \"%s\": %s", status, said, text);
}

int main(void)
{
	/* Headers may have these mean the calls with 64. */
	check(open_2, "invalid open");
	check(openat_2, "invalid openat");
	check(open64_2, "invalid open64 call");
	check(openat64_2, "invalid openat64 call");
	check(read_chk, "buffer overflow detected");
	/* And they do what they are asked for, if that can be right. */
	EXPECT(close(__open_2("/dev/null", O_RDONLY)) == 0);
	EXPECT(close(__openat64_2(AT_FDCWD, "/dev/null", O_RDONLY)) == 0);
	return 0;
}
