/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The descriptor of an opened device is closed, moved, or its number used for another file. The
 * environment variable DESCRIPTORS says how; without it the program only uses the device.
 */
#include "kit.h"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define HIGH 700 /* not in use here */

static struct pair pair;
static struct ibv_comp_channel *channel;

/* Duplicates @fd until the copy has the number @want, which is free. */
static void land_by_dup(int fd, int want)
{
	int copy;

	do
		copy = DONE(dup(fd));
	while (copy < want);
	EXPECT(copy == want);
}

static void land_close(int fd, int want)
{
	OK(close(want));
	land_by_dup(fd, want);
}

static void land_dup2(int fd, int want)
{
	EXPECT(dup2(fd, want) == want);
}

static void land_dup3(int fd, int want)
{
	EXPECT(dup3(fd, want, O_CLOEXEC) == want);
}

static void land_fcntl(int fd, int want)
{
	OK(close(want));
	EXPECT(fcntl(fd, F_DUPFD, want) == want);
}

static void land_fcntl_cloexec(int fd, int want)
{
	OK(close(want));
	EXPECT(fcntl(fd, F_DUPFD_CLOEXEC, want) == want);
}

static void land_close_range(int fd, int want)
{
	OK(close_range((unsigned int)want, (unsigned int)want, 0));
	land_by_dup(fd, want);
}

static void land_closefrom(int fd, int want)
{
	/* Descriptors that must stay open get lower numbers. */
	int low = DONE(dup(fd));

	EXPECT(low < want || dup2(fd, 0) == 0);
	closefrom(want);
	land_by_dup(low < want ? low : 0, want);
}

/* Possible contents of a program's own file: the beginning of a doorbell, or of an event. */
struct bytes {
	union {
		struct ib_uverbs_cmd_hdr command;
		uint64_t token;
	};
	char rest[PAYLOAD];
};

static void expect_bytes_through(int from, int to, const struct bytes *sent)
{
	struct bytes got = {0};

	EXPECT(write(from, sent, sizeof(*sent)) == sizeof(*sent));
	EXPECT(read(to, &got, sizeof(got)) == sizeof(got));
	EXPECT(!memcmp(&got, sent, sizeof(got)));
}

/* Puts an end of a socket pair at the number of the device, then at that of its events. */
static void replace(void (*land)(int fd, int want))
{
	struct bytes doorbell = {
	    .command = {.command = IB_USER_VERBS_CMD_POST_SEND, .in_words = sizeof(doorbell) / 4}};
	struct bytes event = {.token = 0x7a9e000000000001};
	int numbers[] = {channel->fd, pair.context->async_fd, pair.context->cmd_fd};

	for (unsigned int i = 0; i < COUNT(numbers); i++) {
		int ends[2], far;

		OK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
		far = DONE(fcntl(ends[1], F_DUPFD, HIGH + (int)i));
		if (land == land_closefrom)
			far = dup2(ends[1], 1);
		land(ends[0], numbers[i]);
		expect_bytes_through(numbers[i], far, &doorbell);
		expect_bytes_through(far, numbers[i], &event);
	}
	fprintf(stderr, "ok\n");
	_exit(0); /* the device is closed: no object can be destroyed */
}

static void by_close(void)
{
	replace(land_close);
}

static void by_dup2(void)
{
	replace(land_dup2);
}

static void by_dup3(void)
{
	replace(land_dup3);
}

static void by_fcntl(void)
{
	replace(land_fcntl);
}

static void by_fcntl_cloexec(void)
{
	replace(land_fcntl_cloexec);
}

static void by_close_range(void)
{
	replace(land_close_range);
}

static void by_closefrom(void)
{
	replace(land_closefrom);
}

/* The device under another number; the first one is closed. */
static void moved_to(int copy)
{
	OK(close(pair.context->cmd_fd));
	pair.context->cmd_fd = copy;
	pair_send(&pair, "by a copy");
}

static void copy_dup(void)
{
	moved_to(DONE(dup(pair.context->cmd_fd)));
}

static void copy_fcntl(void)
{
	moved_to(DONE(fcntl(pair.context->cmd_fd, F_DUPFD_CLOEXEC, HIGH)));
}

static void copy_dup2(void)
{
	moved_to(DONE(dup2(pair.context->cmd_fd, HIGH)));
}

static void there_and_back(void)
{
	int number = pair.context->cmd_fd;
	int copy = DONE(dup(number));

	OK(close(number));
	EXPECT(dup2(copy, number) == number);
	OK(close(copy));
	pair_send(&pair, "back");
}

/* Calls that fail or do nothing change nothing. */
static void failing_calls(void)
{
	int number = pair.context->cmd_fd;

	EXPECT(dup2(-1, number) < 0 && errno == EBADF);
	EXPECT(dup3(1, number, O_APPEND) < 0 && errno == EINVAL);
	EXPECT(dup3(number, number, 0) < 0 && errno == EINVAL);
	EXPECT(dup2(number, number) == number);
	EXPECT(close_range((unsigned int)number + 1, (unsigned int)number, 0) < 0);
	EXPECT(close_range((unsigned int)number, (unsigned int)number, 1u << 31) < 0);
	EXPECT(close(-1) < 0 && errno == EBADF);
	EXPECT(fcntl(number, F_DUPFD, -1) < 0 && errno == EINVAL);
	pair_send(&pair, "after calls that failed");
}

static void only_cloexec(void)
{
	OK(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
	pair_send(&pair, "close-on-exec");
}

static void nothing(void)
{
}

static const struct way ways[] = {
    {"nothing", nothing},
    {"close", by_close},
    {"dup2", by_dup2},
    {"dup3", by_dup3},
    {"fcntl", by_fcntl},
    {"fcntl-cloexec", by_fcntl_cloexec},
    {"close-range", by_close_range},
    {"closefrom", by_closefrom},
    {"copy-dup", copy_dup},
    {"copy-fcntl", copy_fcntl},
    {"copy-dup2", copy_dup2},
    {"there-and-back", there_and_back},
    {"failing-calls", failing_calls},
    {"only-cloexec", only_cloexec},
    /* Done before the open. */
    {"all-close", nothing},
    {"all-close-range", nothing},
    {"all-closefrom", nothing},
    {"all-files", nothing},
};

/* As daemons do at their start; here a device is open. */
static void close_all(const char *how)
{
	if (!strcmp(how, "all-close"))
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
	else if (!strcmp(how, "all-close-range") || !strcmp(how, "all-files"))
		OK(close_range(3, ~0u, 0));
	else if (!strcmp(how, "all-closefrom"))
		closefrom(3);
}

/* Files with the lowest free numbers, which only this program may write to. */
static int files[16];

static void make_files(void)
{
	for (unsigned int i = 0; i < COUNT(files); i++)
		files[i] = DONE(memfd_create("file", MFD_CLOEXEC));
}

static void expect_empty_files(void)
{
	struct stat status;

	for (unsigned int i = 0; i < COUNT(files) && files[i]; i++) {
		OK(fstat(files[i], &status));
		EXPECT(status.st_size == 0);
	}
}

static struct ibv_context *open_after_closing(const char *how)
{
	struct ibv_device **list = MADE(ibv_get_device_list(NULL));
	struct ibv_context *context;

	close_all(how);
	if (!strcmp(how, "all-files"))
		make_files();
	context = MADE(ibv_open_device(list[0]));
	ibv_free_device_list(list);
	return context;
}

int main(void)
{
	const char *how = getenv("DESCRIPTORS") ? getenv("DESCRIPTORS") : "nothing";
	struct ibv_context *context = open_after_closing(how);

	channel = MADE(ibv_create_comp_channel(context));
	pair = pair_new(context);
	pair_send(&pair, "before");
	run_way(ways, COUNT(ways), how);
	pair_send(&pair, "after");
	pair_free(&pair);
	OK(ibv_destroy_comp_channel(channel));
	OK(ibv_close_device(context));
	expect_empty_files();
	fprintf(stderr, "ok\n");
	return 0;
}
