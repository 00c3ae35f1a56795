/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of addresses and neighbours, in a network namespace of its own. */
#include "daemon/devices/addresses.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
/* clang-format on */
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIPPED 77
#define TIMES	100 /* of 50 ms each: the kernel tells of an IPv6 address a little later */
#define WAIT_US 50000

static const uint8_t ipv4[16] = {[10] = 0xff, 0xff, 192, 0, 2, 7};
static const uint8_t ipv6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 7};

static struct wv_addresses addresses;
static const uint8_t *expected; /* the kernel may also tell of other addresses at any time */
static bool heard;
static unsigned int n_of_ipv4; /* messages about ipv4 */
static uint8_t own[16], neighbour[16], link_address[WV_LINK_ADDRESS];

static void on_own(void *unused, const uint8_t gid[16])
{
	(void)unused;
	n_of_ipv4 += !memcmp(gid, ipv4, sizeof(ipv4));
	if (memcmp(gid, expected, sizeof(own)) != 0)
		return;
	memcpy(own, gid, sizeof(own));
	heard = true;
}

static void on_neighbour(void *unused, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS])
{
	(void)unused;
	if (memcmp(gid, expected, sizeof(neighbour)) != 0)
		return;
	memcpy(neighbour, gid, sizeof(neighbour));
	memcpy(link_address, at, sizeof(link_address));
	heard = true;
}

/* Does it, and hears what the kernel says of the address @of. */
static void after(const char *command, const uint8_t of[16])
{
	expected = of;
	memset(own, 0, sizeof(own));
	memset(neighbour, 0, sizeof(neighbour));
	assert_int_equal(system(command), 0);
	heard = false;
	for (int i = 0; i < TIMES && !heard; i++)
		assert_true(sd_event_run(addresses.event, WAIT_US) >= 0);
	while (sd_event_run(addresses.event, 0) > 0)
		;
}

static int begin(void **state)
{
	(void)state;
	assert_int_equal(sd_event_new(&addresses.event), 0);
	addresses.own = on_own;
	addresses.neighbour = on_neighbour;
	assert_int_equal(wv_addresses_start(&addresses), 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	wv_addresses_stop(&addresses);
	addresses.event = sd_event_unref(addresses.event);
	return 0;
}

static void test_addresses_come_and_go(void **state)
{
	(void)state;
	after("ip address add 192.0.2.7/24 dev of-test", ipv4);
	assert_memory_equal(own, ipv4, sizeof(ipv4));
	after("ip address add 2001:db8::7/64 dev of-test nodad", ipv6);
	assert_memory_equal(own, ipv6, sizeof(ipv6));
	after("ip address del 192.0.2.7/24 dev of-test", ipv4);
	assert_memory_equal(own, ipv4, sizeof(ipv4));
}

/* As DHCP and router advertisements do. */
static void test_a_longer_lifetime_is_no_change(void **state)
{
	static const uint8_t other[16] = {[10] = 0xff, 0xff, 192, 0, 2, 8};

	(void)state;
	after("ip address add 192.0.2.7/24 dev of-test", ipv4);
	n_of_ipv4 = 0;
	usleep(WAIT_US); /* the kernel's clock of addresses counts hundredths of a second */
	after("ip address change 192.0.2.7/24 dev of-test valid_lft 1000 preferred_lft 1000 && "
	      "ip address add 192.0.2.8/32 dev of-test",
	      other);
	assert_int_equal(n_of_ipv4, 0);
	after("ip address del 192.0.2.7/24 dev of-test", ipv4);
	assert_int_equal(n_of_ipv4, 1);
}

static void test_neighbours_move(void **state)
{
	const uint8_t at[WV_LINK_ADDRESS] = {2, 0, 0, 0, 0, 9};

	(void)state;
	after("ip neighbour add 192.0.2.7 lladdr 02:00:00:00:00:01 dev of-test", ipv4);
	assert_memory_equal(neighbour, ipv4, sizeof(ipv4));
	after("ip neighbour replace 192.0.2.7 lladdr 02:00:00:00:00:09 dev of-test", ipv4);
	assert_memory_equal(neighbour, ipv4, sizeof(ipv4));
	assert_memory_equal(link_address, at, sizeof(at));
	assert_int_equal(own[0], 0);
}

/* The kernel sends none; libmnl would look for the next message where no memory is. */
static void test_length_beyond_the_end(void **state)
{
	struct nlmsghdr message = {.nlmsg_len = 0x89000000, .nlmsg_type = RTM_NEWADDR};

	(void)state;
	expected = ipv4;
	heard = false;
	wv_addresses_hear(&addresses, &message, sizeof(message));
	assert_false(heard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_addresses_come_and_go, begin, end),
	    cmocka_unit_test_setup_teardown(test_a_longer_lifetime_is_no_change, begin, end),
	    cmocka_unit_test(test_length_beyond_the_end),
	    cmocka_unit_test_setup_teardown(test_neighbours_move, begin, end),
	};

	if (unshare(CLONE_NEWNET) ||
	    system("ip link add of-test type bridge && ip link set of-test up")) {
		print_message("skipped: no network namespace with a device can be made here\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
