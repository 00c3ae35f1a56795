/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of exactly their size, and descriptors that never leak. */
#include "fixture.h"
#include "wire/pair.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

static const struct {
	enum wv_msg_type type;
	size_t bytes;
	bool open_ended;
} types[] = {
    {WV_MSG_REQUEST, sizeof(struct wv_msg_request), false},
    {WV_MSG_LEASE, sizeof(struct wv_msg_lease), true},
    {WV_MSG_NO_LEASE, sizeof(struct wv_msg_no_lease), true},
    {WV_MSG_RECORD, sizeof(struct wv_msg_record), true},
    {WV_MSG_REPORT, sizeof(struct wv_msg_report), false},
    {WV_MSG_CONTROL, sizeof(struct wv_msg), true},
    {WV_MSG_POOL, sizeof(struct wv_msg_pool), false},
    {WV_MSG_POOL_STATE, sizeof(struct wv_msg_pool_state), false},
    {WV_MSG_PAIR, sizeof(struct wv_msg_pair), false},
    {WV_MSG_CONNECTED, sizeof(struct wv_msg_connected), true},
    {WV_MSG_PAIR_GONE, sizeof(struct wv_msg_pair_gone), false},
};

/* A message of @bytes, in memory of just that size. */
static struct wv_msg *make(enum wv_msg_type type, size_t bytes)
{
	struct wv_msg head;

	wv_msg_init(&head, type, bytes);
	struct wv_msg *msg = calloc(1, bytes);
	memcpy(msg, &head, bytes < sizeof(head) ? bytes : sizeof(head));
	return msg;
}

static int check(enum wv_msg_type type, size_t bytes)
{
	wv_auto_free struct wv_msg *msg = make(type, bytes);

	return wv_msg_check(msg, bytes);
}

static void test_every_type_at_its_size(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(types); i++)
		assert_int_equal(check(types[i].type, types[i].bytes), types[i].type);
}

static void test_truncated(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(types); i++)
		for (size_t bytes = 1; bytes < types[i].bytes; bytes++)
			assert_int_equal(check(types[i].type, bytes), -EPROTO);
}

static void test_trailing_bytes(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(types); i++)
		for (size_t more = 1; more < 16; more++)
			assert_int_equal(check(types[i].type, types[i].bytes + more),
					 types[i].open_ended ? (int)types[i].type : -EPROTO);
}

static void test_a_size_that_is_not_the_message_s(void **state)
{
	(void)state;
	for (size_t i = 0; i < WV_ARRAY_SIZE(types); i++) {
		wv_auto_free struct wv_msg *msg = make(types[i].type, types[i].bytes);

		msg->bytes++;
		assert_int_equal(wv_msg_check(msg, types[i].bytes), -EPROTO);
		msg->bytes -= 2;
		assert_int_equal(wv_msg_check(msg, types[i].bytes), -EPROTO);
	}
}

static void test_wrong_magic_version_and_type(void **state)
{
	wv_auto_free struct wv_msg *msg = make(WV_MSG_CONTROL, sizeof(*msg));

	(void)state;
	msg->magic ^= 1;
	assert_int_equal(wv_msg_check(msg, sizeof(*msg)), -EPROTO);
	msg->magic ^= 1;
	msg->version++;
	assert_int_equal(wv_msg_check(msg, sizeof(*msg)), -EPROTO);
	msg->version--;
	assert_int_equal(wv_msg_check(msg, sizeof(*msg)), WV_MSG_CONTROL);
	for (unsigned int type = 0; type <= UINT16_MAX; type++) {
		bool known = type >= WV_MSG_REQUEST && type <= WV_MSG_POOL_STATE;

		if (known)
			continue;
		msg->type = (uint16_t)type;
		assert_int_equal(wv_msg_check(msg, sizeof(*msg)), -EPROTO);
	}
}

/* Two ends of a connection, and descriptors to send over it. */
struct link {
	unsigned int open_before;
	int sock[2];
	int fds[64];
};

static void link_up(struct link *l)
{
	l->open_before = count_fds();
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, l->sock), 0);
	for (size_t i = 0; i < WV_ARRAY_SIZE(l->fds); i++) {
		l->fds[i] = memfd_create("wire", MFD_CLOEXEC);
		assert_true(l->fds[i] >= 0);
	}
}

/* After this only what was received and not closed is left. */
static void link_down(struct link *l)
{
	close(l->sock[0]);
	close(l->sock[1]);
	for (size_t i = 0; i < WV_ARRAY_SIZE(l->fds); i++)
		close(l->fds[i]);
}

static void assert_nothing_leaked(struct link *l)
{
	link_down(l);
	assert_int_equal(count_fds(), l->open_before);
}

static void test_a_message_of_two_parts_with_descriptors(void **state)
{
	int got_fds[WV_WIRE_MAX_FDS];
	char buffer[64];
	unsigned int n;
	struct link l;

	(void)state;
	link_up(&l);
	assert_int_equal(wv_send(l.sock[0], "head", 4, "tail", 4, l.fds, WV_WIRE_MAX_FDS), 0);
	assert_int_equal(wv_recv(l.sock[1], buffer, sizeof(buffer), got_fds, WV_WIRE_MAX_FDS, &n),
			 8);
	assert_memory_equal(buffer, "headtail", 8);
	assert_int_equal(n, WV_WIRE_MAX_FDS);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(fcntl(got_fds[i], F_GETFD), FD_CLOEXEC);
		assert_int_equal(close(got_fds[i]), 0);
	}
	assert_nothing_leaked(&l);
}

static void test_descriptors_keep_their_order(void **state)
{
	int got_fds[WV_WIRE_MAX_FDS];
	char byte;
	unsigned int n;
	struct link l;

	(void)state;
	link_up(&l);
	for (char i = 0; i < 5; i++)
		assert_int_equal(pwrite(l.fds[(int)i], &i, 1, 0), 1);
	assert_int_equal(wv_send(l.sock[0], "x", 1, NULL, 0, l.fds, 5), 0);
	assert_int_equal(wv_recv(l.sock[1], &byte, 1, got_fds, WV_WIRE_MAX_FDS, &n), 1);
	assert_int_equal(n, 5);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(pread(got_fds[i], &byte, 1, 0), 1);
		assert_int_equal(byte, i);
		close(got_fds[i]);
	}
	assert_nothing_leaked(&l);
}

static void send_many(struct link *l, unsigned int n_fds, size_t bytes)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(l->fds))] = {0};
	struct iovec part = {.iov_base = control, .iov_len = bytes};
	struct msghdr msg = {.msg_iov = &part,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = CMSG_SPACE(sizeof(int) * n_fds)};
	struct cmsghdr *rights = (struct cmsghdr *)control;

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
	memcpy(CMSG_DATA(rights), l->fds, sizeof(int) * n_fds);
	assert_int_equal(sendmsg(l->sock[0], &msg, 0), bytes);
}

/* From one more than there may be up to far more: each is cut off at another place. */
static void test_too_many_descriptors_are_all_closed(void **state)
{
	(void)state;
	for (unsigned int many = WV_WIRE_MAX_FDS + 1; many <= 64; many++) {
		int got_fds[WV_WIRE_MAX_FDS];
		char byte;
		unsigned int n = 77;
		struct link l;

		link_up(&l);
		send_many(&l, many, 1);
		assert_int_equal(wv_recv(l.sock[1], &byte, 1, got_fds, WV_WIRE_MAX_FDS, &n),
				 -EPROTO);
		assert_int_equal(n, 0);
		assert_nothing_leaked(&l);
	}
}

static void test_more_descriptors_than_wanted_are_all_closed(void **state)
{
	int got_fd;
	char byte;
	unsigned int n;
	struct link l;

	(void)state;
	link_up(&l);
	assert_int_equal(wv_send(l.sock[0], "x", 1, NULL, 0, l.fds, 2), 0);
	assert_int_equal(wv_recv(l.sock[1], &byte, 1, &got_fd, 1, &n), -EPROTO);
	assert_int_equal(wv_send(l.sock[0], "x", 1, NULL, 0, l.fds, 1), 0);
	assert_int_equal(wv_recv(l.sock[1], &byte, 1, NULL, 0, &n), -EPROTO);
	assert_nothing_leaked(&l);
}

static void test_a_message_too_long_is_dropped_with_its_descriptors(void **state)
{
	int got_fds[WV_WIRE_MAX_FDS];
	char buffer[4];
	unsigned int n;
	struct link l;

	(void)state;
	link_up(&l);
	assert_int_equal(wv_send(l.sock[0], "five!", 5, NULL, 0, l.fds, 3), 0);
	assert_int_equal(wv_recv(l.sock[1], buffer, sizeof(buffer), got_fds, WV_WIRE_MAX_FDS, &n),
			 -EPROTO);
	assert_int_equal(n, 0);
	assert_nothing_leaked(&l);
}

/* A message of no bytes is not the end of the connection, though it looks like it. */
static void test_an_empty_message_leaves_no_descriptors(void **state)
{
	int got_fds[WV_WIRE_MAX_FDS];
	char byte;
	unsigned int n = 77;
	struct link l;

	(void)state;
	link_up(&l);
	send_many(&l, 3, 0);
	assert_int_equal(wv_recv(l.sock[1], &byte, 1, got_fds, WV_WIRE_MAX_FDS, &n), -EPROTO);
	assert_int_equal(n, 0);
	assert_nothing_leaked(&l);
}

static void test_neither_side_waits(void **state)
{
	static char large[WV_WIRE_MAX];
	int got_fds[1], result = 0;
	unsigned int n;
	struct link l;

	(void)state;
	link_up(&l);
	assert_int_equal(wv_recv(l.sock[1], large, sizeof(large), got_fds, 1, &n), -EAGAIN);
	for (unsigned int i = 0; i < 1000 && !result; i++)
		result = wv_send(l.sock[0], large, sizeof(large), NULL, 0, NULL, 0);
	assert_int_equal(result, -EAGAIN);
	assert_nothing_leaked(&l);
}

static void test_the_peer_is_gone(void **state)
{
	char byte;
	unsigned int n;
	struct link l;

	(void)state;
	link_up(&l);
	close(l.sock[0]);
	assert_int_equal(wv_recv(l.sock[1], &byte, 1, NULL, 0, &n), 0);
	assert_int_equal(wv_send(l.sock[1], "x", 1, NULL, 0, NULL, 0), -EPIPE);
	l.sock[0] = dup(l.sock[1]);
	assert_nothing_leaked(&l);
}

static void test_the_largest_message_passes(void **state)
{
	static char sent[WV_WIRE_MAX], received[WV_WIRE_MAX];
	unsigned int n;
	struct link l;

	(void)state;
	for (size_t i = 0; i < sizeof(sent); i++)
		sent[i] = (char)i;
	link_up(&l);
	assert_int_equal(wv_send(l.sock[0], sent, 100, sent + 100, sizeof(sent) - 100, NULL, 0), 0);
	assert_int_equal(wv_recv(l.sock[1], received, sizeof(received), NULL, 0, &n), WV_WIRE_MAX);
	assert_memory_equal(sent, received, sizeof(sent));
	assert_nothing_leaked(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_every_type_at_its_size),
	    cmocka_unit_test(test_truncated),
	    cmocka_unit_test(test_trailing_bytes),
	    cmocka_unit_test(test_a_size_that_is_not_the_message_s),
	    cmocka_unit_test(test_wrong_magic_version_and_type),
	    cmocka_unit_test(test_a_message_of_two_parts_with_descriptors),
	    cmocka_unit_test(test_descriptors_keep_their_order),
	    cmocka_unit_test(test_too_many_descriptors_are_all_closed),
	    cmocka_unit_test(test_more_descriptors_than_wanted_are_all_closed),
	    cmocka_unit_test(test_a_message_too_long_is_dropped_with_its_descriptors),
	    cmocka_unit_test(test_an_empty_message_leaves_no_descriptors),
	    cmocka_unit_test(test_neither_side_waits),
	    cmocka_unit_test(test_the_peer_is_gone),
	    cmocka_unit_test(test_the_largest_message_passes),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
