/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/service_clients.h"

#include "daemon/services/processes.h"

enum wv_client_next wv_handle_service(struct wv_client *c, const struct wv_received *in)
{
	const struct wv_msg_service *msg = (const void *)in->msg;
	struct wv_services *services = c->service->services;

	if (!services)
		return WV_CLIENT_MALFORMED;
	if (!c->process)
		c->process = wv_service_process_add(services, c->fd, c->user->uid, c->tenant);
	if (!c->process) {
		c->service->tally.over_limit++;
		return WV_CLIENT_CLOSE;
	}
	c->state = WV_CLIENT_SERVICES;
	return wv_service_process_says(services, c->process, &msg->note) ? WV_CLIENT_MALFORMED
									 : WV_CLIENT_KEEP;
}

void wv_service_client_end(struct wv_client *c)
{
	if (c->process)
		wv_service_process_remove(c->service->services, c->process);
	c->process = NULL;
}
