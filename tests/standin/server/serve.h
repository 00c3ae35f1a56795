/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

#include "hca.h"

/* Listens at @path, a new socket, with our socket already watched by hca->epoll. -errno. */
int hca_listen(struct hca *hca, const char *path);

/* Takes one connection and serves it in a thread of its own. */
void hca_accept(struct hca *hca);
