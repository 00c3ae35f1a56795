/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/conn_end.h"

#include "base/base.h"
#include "service/daemon_socket.h"

#include <errno.h>

bool wv_service_say_left(int sock, struct wv_service_ends *left)
{
	struct wv_service_conn_end *end;

	while ((end = LIST_FIRST(left))) {
		const struct wv_service_note gone = {.word = WV_SERVICE_GONE,
						     .number = end->offer ? end->number : 0,
						     .from = end->offer ? 0 : end->number};

		if (sock >= 0 && wv_service_say(sock, &gone) == -EAGAIN)
			return false;
		LIST_REMOVE(end, link);
		free(end);
	}
	return true;
}
