/* SPDX-License-Identifier: BSD-2-Clause */
#include "service.h"

#include "../measure.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#define PATIENCE_MS 10000
#define RETRY_US    200 /* as hello_connect() does */

struct wv_service_connection *service_connect(struct wv_connect_attr attr)
{
	uint64_t until = clock_ns() + PATIENCE_MS * 1000000ull;
	struct wv_service_connection *connection;
	int err;

	attr.timeout_ms = PATIENCE_MS;
	while ((err = wv_service_connect(&attr, sizeof(attr), &connection))) {
		if (err != ENOENT || clock_ns() > until)
			give_up(err, "wv_service_connect");
		usleep(RETRY_US);
	}
	return connection;
}

struct wv_offer *service_offer(const struct wv_service_attr *attr)
{
	struct wv_offer *offer;
	int err = wv_service_offer(attr, sizeof(*attr), &offer);

	if (err)
		give_up(err, "wv_service_offer");
	return offer;
}

struct wv_service_connection *service_await(struct wv_offer *offer)
{
	struct pollfd file = {.fd = wv_service_fd(offer), .events = POLLIN};
	struct wv_service_event event;

	do {
		if (poll(&file, 1, PATIENCE_MS) != 1)
			give_up(0, "no client comes");
	} while (wv_service_next(offer, &event) || event.type != WV_SERVICE_CAME);
	return event.connection;
}
