/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel says of addresses and neighbours. */
#include "fuzz.h"

#include "daemon/devices/addresses.h"

static unsigned int n_own, n_neighbours;

static void on_own(void *most, const uint8_t gid[16])
{
	assert_non_null(gid);
	assert_true(++n_own + n_neighbours <= *(size_t *)most);
}

static void on_neighbour(void *most, const uint8_t gid[16], const uint8_t at[WV_LINK_ADDRESS])
{
	assert_non_null(gid);
	assert_non_null(at);
	assert_true(n_own + ++n_neighbours <= *(size_t *)most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	size_t most = bytes / 16; /* a message has a header */
	wv_auto_free void *messages = copy_exactly(data, bytes);
	struct wv_addresses addresses = {.own = on_own, .neighbour = on_neighbour, .arg = &most};

	n_own = n_neighbours = 0;
	wv_addresses_hear(&addresses, messages, bytes);
	return 0;
}
