/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/tell.h"

#include "base/base.h"

#include <sys/socket.h>

void wv_tell_supervisor(enum wv_control_word word, int value, const char *why)
{
	struct wv_control c = {.word = word, .value = value};

	wv_because(&c.why, "%s", why);
	send(WV_TEMPLATE_CONTROL, &c, sizeof(c), MSG_NOSIGNAL);
}
