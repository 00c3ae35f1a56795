/*
 * Asks for a pool, and then does what might keep it, end it or spoil something: usage: asker WHAT.
 * At "@" it waits for a line.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
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
static void ask(void)
{
	int err;

	do
		err = wv_request_pool(LEASES);
	while (err == ETIMEDOUT);
	if (err)
		fprintf(stderr, "%s\n", strerror(err));
	require(!err, "it can be asked for");
	require(asked() == LEASES, "it stands");
}

static void wait_here(const char *name)
{
	printf("@%s\n", name);
	fflush(stdout);
	require(getchar() == '\n', "a line to go on");
}

/* The pool is the parent's alone, and ends with it. */
static void with_child(void)
{
	pid_t child = fork();

	if (!child) {
		require(asked() == 0, "a child has none");
		pause();
	}
	printf("# child %d\n", (int)child);
	wait_here("forked");
}

/* A daemon-to-be closes all, and the numbers come to be other files. */
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
	require(asked() == 0, "it ended with the daemon");
	ask();
	wait_here("again");
}

static void without_daemon(void)
{
	wait_here("stop");
	require(wv_request_pool(LEASES) == ENOENT, "nobody is there");
	require(asked() == 0, "nothing stands");
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
    {"fork", with_child},
    {"close", with_all_closed},
    {"restart", with_another_daemon},
    {"stop", without_daemon},
};

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	require(list && *list && *ibv_get_device_name(*list), "there is a device");
	ibv_free_device_list(list);
	ask();
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (argc > 1 && !strcmp(argv[1], all[i].name))
			all[i].run();
	return 0;
}
