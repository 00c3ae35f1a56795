/* SPDX-License-Identifier: BSD-2-Clause */
/* A client's end of a connection to a service is made. */
#pragma once

#include "service/conn_end.h"

/* A new connection as @attr says, which is the caller's. 0 or -errno. */
int wv_service_make(const struct wv_connect_attr *attr, struct wv_service_conn_end **made);

/* Frees @end with its queue pair, and ends the connection if there is one. May be NULL. */
void wv_service_conn_end(struct wv_service_conn_end *end);
