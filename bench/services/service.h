/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs do with a service, and end if that fails. */
#pragma once

#include "warmverbs-service.h"

/* Waits for the service as long as there is none yet. How long to wait for it is set here. */
struct wv_service_connection *service_connect(struct wv_connect_attr attr);

struct wv_offer *service_offer(const struct wv_service_attr *attr);

/* Waits for a client, and returns the connection to it. */
struct wv_service_connection *service_await(struct wv_offer *offer);
