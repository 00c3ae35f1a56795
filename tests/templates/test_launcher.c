/* SPDX-License-Identifier: BSD-2-Clause */
/* What a client makes of answers that come at the last moment. */
#include "fixture.h"

#include "warmverbs-template.h"

#include "base/base.h"
#include "template/control.h"
#include "template/start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static char folder[] = "/tmp/launcher.XXXXXX";
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int listener;

/* In place of libc's: the answer is there, but the time is over. A second call finds the end. */
int poll(struct pollfd *all, nfds_t n, int wait_ms)
{
	const struct wv_start_answer ready = {.word = WV_START_READY};
	wv_auto_fd child = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	(void)all;
	(void)n;
	(void)wait_ms;
	if (child < 0)
		return 1;
	assert_int_equal(send(child, &ready, sizeof(ready), 0), sizeof(ready));
	return 0;
}

static int set_up(void **state)
{
	wv_auto_fd terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);

	(void)state;
	if (terminal >= 0) /* with one, nothing is started */
		assert_int_equal(ioctl(terminal, TIOCNOTTY), 0);
	assert_non_null(mkdtemp(folder));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
	listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(listener, 1), 0);
	assert_int_equal(dup3(listener, WV_TEMPLATE_PROOF, O_CLOEXEC), WV_TEMPLATE_PROOF);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(WV_TEMPLATE_PROOF);
	close(listener);
	unlink(address.sun_path);
	return rmdir(folder);
}

/* Once the client hears no more, a start could not answer. */
static void test_ready_too_late(void **state)
{
	char *argv[] = {"sh", NULL};
	const struct wv_template_request request = {
	    .path = "/bin/sh", .argv = argv, .envp = argv + 1, .timeout_ms = 1};
	struct wv_template_start start;

	(void)state;
	assert_int_equal(wv_template_start(address.sun_path, &request, &start), ETIMEDOUT);
	assert_int_equal(start.connection, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_ready_too_late),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
