/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The public functions in a program that is linked with the library, and has it preloaded or not:
 * what they tell of opens and commands, and that there is one library only.
 */
#include "behind.h"
#include "warmverbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <rdma/rdma_user_ioctl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 4
#define ROUNDS	200

#define TRUE(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%d: not so: %s\n", __LINE__, #condition);                 \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

static struct wv_status status(void)
{
	struct wv_status s;

	TRUE(wv_query_status(&s, sizeof(s)) == 0);
	return s;
}

static struct wv_statistics statistics(void)
{
	struct wv_statistics s;

	TRUE(wv_query_statistics(&s, sizeof(s)) == 0);
	return s;
}

static const char *dynamic(const struct link_map *map, ElfW(Sxword) tag)
{
	const char *strings = NULL;
	ElfW(Sxword) offset = -1;

	for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
		if (d->d_tag == DT_STRTAB)
			strings = (const char *)d->d_un.d_ptr;
		if (d->d_tag == tag)
			offset = (ElfW(Sxword))d->d_un.d_val;
	}
	/* The vDSO's addresses are not relocated. */
	if (strings && (ElfW(Addr))strings < map->l_addr)
		strings += map->l_addr;
	return strings && offset >= 0 ? strings + offset : "";
}

/* However it is named and loaded, its constructor runs once, and its state is there once. */
static void test_one_instance(void)
{
	void *library = dlopen("libwarmverbs.so.0", RTLD_LAZY);
	unsigned int n = 0;

	TRUE(library && dlsym(library, "wv_query_status") == (void *)wv_query_status);
	TRUE(dlsym(RTLD_DEFAULT, "wv_query_status") == (void *)wv_query_status);
	TRUE(!dlclose(library));
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
		n += !strcmp(dynamic(map, DT_SONAME), "libwarmverbs.so.0");
	TRUE(n == 1);
}

static void test_before_any_open(void)
{
	struct wv_statistics none = {0}, now = statistics();
	struct wv_status s;

	errno = EXDEV;
	s = status();
	TRUE(errno == EXDEV);
	TRUE(!memcmp(&now, &none, sizeof(none)));
	TRUE(s.enabled == 1 && s.daemon == WV_DAEMON_UNKNOWN && s.reason == WV_REASON_NOT_OPENED);
}

static int open_node(void)
{
	int fd = open(BEHIND_NODE, O_RDWR | O_CLOEXEC);

	TRUE(fd >= 0);
	return fd;
}

static void test_counts(void)
{
	struct ib_uverbs_ioctl_hdr cmd = {.length = sizeof(cmd)};
	int fd = open_node();

	TRUE(ioctl(fd, RDMA_VERBS_IOCTL, &cmd) == 0);
	TRUE(ioctl(fd, RDMA_VERBS_IOCTL, &cmd) == 0);
	TRUE(statistics().opens == 1 && statistics().plain == 1);
	TRUE(statistics().leased == 0 && statistics().recorded == 0);
	TRUE(statistics().commands_kernel == 2 && statistics().commands_adopted == 0);
	TRUE(behind_count(CALL_IOCTL) == 2);
	TRUE(status().reason == WV_REASON_NO_DAEMON);
	TRUE(close(fd) == 0);
}

/* An open that failed is none. */
static void test_failed_open(void)
{
	TRUE(open("/dev/infiniband/uverbs-none", O_RDWR | O_CLOEXEC) < 0);
	TRUE(statistics().opens == 1);
}

static void in_child(void)
{
	TRUE(statistics().opens == 0 && statistics().commands_kernel == 0);
	TRUE(status().reason == WV_REASON_NOT_OPENED);
	close(open_node());
	TRUE(statistics().opens == 1 && statistics().plain == 1);
	_exit(0);
}

static void test_child_counts_for_itself(void)
{
	pid_t pid = fork();
	int how;

	TRUE(pid >= 0);
	if (!pid)
		in_child();
	TRUE(waitpid(pid, &how, 0) == pid && WIFEXITED(how) && !WEXITSTATUS(how));
	TRUE(statistics().opens == 1 && statistics().commands_kernel == 2);
}

/* Callers that were compiled with a shorter or a longer structure. */
static void test_sizes(void)
{
	struct {
		struct wv_statistics known;
		uint64_t newer;
	} longer = {.newer = 1};
	uint64_t shorter[2] = {0, 7};

	TRUE(wv_query_statistics((void *)shorter, sizeof(shorter[0])) == 0);
	TRUE(shorter[0] == 1 && shorter[1] == 7);
	TRUE(wv_query_statistics(&longer.known, sizeof(longer)) == 0);
	TRUE(longer.known.opens == 1 && longer.newer == 0);
}

static void test_wrong_arguments(void)
{
	struct wv_status s;
	struct wv_statistics n;

	errno = EXDEV;
	TRUE(wv_query_status(NULL, sizeof(s)) == EINVAL);
	TRUE(wv_query_status(&s, 0) == EINVAL);
	TRUE(wv_query_statistics(NULL, sizeof(n)) == EINVAL);
	TRUE(wv_query_statistics(&n, 0) == EINVAL);
	TRUE(wv_request_pool(0) == EINVAL);
	TRUE(errno == EXDEV);
}

/* This program is not linked with libibverbs, so it never asks for a lease. */
static void test_no_pool_without_verbs(void)
{
	TRUE(wv_request_pool(1) == ENOSYS);
	TRUE(status().pool_asked == 0);
	wv_release();
}

static void *use_and_ask(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct ib_uverbs_ioctl_hdr cmd = {.length = sizeof(cmd)};
		int fd = open_node();

		TRUE(ioctl(fd, RDMA_VERBS_IOCTL, &cmd) == 0);
		TRUE(status().reason == WV_REASON_NO_DAEMON);
		TRUE(statistics().opens > 0);
		wv_release();
		TRUE(close(fd) == 0);
	}
	return unused;
}

/* None is lost between threads. */
static void test_threads(void)
{
	struct wv_statistics before = statistics();
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		TRUE(!pthread_create(&threads[i], NULL, use_and_ask, NULL));
	for (int i = 0; i < THREADS; i++)
		TRUE(!pthread_join(threads[i], NULL));
	TRUE(statistics().opens == before.opens + THREADS * ROUNDS);
	TRUE(statistics().plain == statistics().opens);
	TRUE(statistics().commands_kernel == before.commands_kernel + THREADS * ROUNDS);
}

static void test_words(void)
{
	for (int reason = WV_REASON_NONE; reason <= WV_REASON_UNFIT; reason++)
		TRUE(strcmp(wv_reason_str((enum wv_reason)reason), "unknown"));
	TRUE(!strcmp(wv_reason_str((enum wv_reason)(WV_REASON_UNFIT + 1)), "unknown"));
	TRUE(!strcmp(wv_reason_str((enum wv_reason) - 1), "unknown"));
	TRUE(strchr(wv_version(), '.'));
}

int main(void)
{
	test_one_instance();
	test_before_any_open();
	test_counts();
	test_failed_open();
	test_child_counts_for_itself();
	test_sizes();
	test_wrong_arguments();
	test_no_pool_without_verbs();
	test_threads();
	test_words();
	return 0;
}
