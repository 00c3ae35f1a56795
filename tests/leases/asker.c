/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks for a pool and then does something that might keep the pool too long or end it too early.
 * Usage: asker WHAT. After a line "@..." it waits for a line of input.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <warmverbs.h>

#define LEASES 4

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "not so: %s\n", what);
	exit(1);
}

static unsigned int asked(void)
{
	struct wv_status status;

	wv_query_status(&status, sizeof(status));
	return status.pool_asked;
}

/* On a busy machine the daemon may be slow. */
static int request(void)
{
	int err;

	do
		err = wv_request_pool(LEASES);
	while (err == ETIMEDOUT);
	return err;
}

static void ask(void)
{
	int err = request();

	if (err)
		fprintf(stderr, "%s\n", strerror(err));
	require(!err, "wv_request_pool() succeeds");
	require(asked() == LEASES, "the pool stands");
}

static void wait_here(const char *name)
{
	printf("@%s\n", name);
	fflush(stdout);
	require(getchar() == '\n', "a line to go on");
}

/* The pool belongs to the parent alone, and ends with it. */
static void with_child(void)
{
	int ends[2], failed = pipe(ends);
	pid_t child = fork();
	char byte;

	require(!failed, "a pipe");
	if (!child) {
		require(asked() == 0, "the child has no pool");
		require(write(ends[1], "x", 1) == 1, "the parent hears of it");
		pause();
	}
	close(ends[1]);
	require(read(ends[0], &byte, 1) == 1, "the child has found no pool");
	printf("# child %d\n", (int)child);
	wait_here("forked");
}

/* Closes all descriptors, as a daemon does, and opens other files with the same numbers. */
static void with_all_closed(void)
{
	int fds[64];

	closefrom(3);
	for (unsigned int i = 0; i < 64; i++)
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	require(asked() == 0, "it ended");
	wait_here("closed");
	wv_release();
	for (unsigned int i = 0; i < 64; i++)
		require(fcntl(fds[i], F_GETFD) >= 0, "other files stay open");
	ask();
}

static void with_another_daemon(void)
{
	wait_here("restart");
	require(asked() == 0, "the pool ended with the daemon");
	ask();
	wait_here("again");
}

static void without_daemon(void)
{
	wait_here("stop");
	require(wv_request_pool(LEASES) == ENOENT, "nobody is there");
	require(asked() == 0, "nothing stands");
}

static unsigned int count_fds(void)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Whatever the answer, no descriptor is left. */
static void whatever_is_answered(void)
{
	unsigned int before = count_fds();
	int err = request();

	require((asked() == 0) == (err != 0), "no error, no pool");
	wv_release();
	require(count_fds() == before, "no descriptor is left");
	printf("%s\n", err ? strerrorname_np(err) : "asked");
}

/* The status before and after the device is opened. */
static void status_of_an_open(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct wv_status before, after;
	struct ibv_context *verbs;

	wv_query_status(&before, sizeof(before));
	require(before.reason == WV_REASON_NOT_OPENED, "nothing was opened");
	verbs = ibv_open_device(*list);
	require(verbs != NULL, "the device can be opened");
	wv_query_status(&after, sizeof(after));
	ibv_close_device(verbs);
	ibv_free_device_list(list);
	printf("daemon %u, then %u, reason %u\n", before.daemon, after.daemon, after.reason);
}

static const struct {
	const char *name;
	bool asks; /* asks for a pool first */
	void (*run)(void);
} all[] = {
    {"fork", true, with_child},
    {"close", true, with_all_closed},
    {"restart", true, with_another_daemon},
    {"stop", true, without_daemon},
    {"whatever", false, whatever_is_answered},
    {"status", false, status_of_an_open},
};

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	require(list && *list && *ibv_get_device_name(*list), "there is a device");
	ibv_free_device_list(list);
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (argc < 2 || strcmp(argv[1], all[i].name))
			continue;
		if (all[i].asks)
			ask();
		all[i].run();
	}
	return 0;
}
