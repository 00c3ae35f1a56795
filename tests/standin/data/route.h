/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a message goes: the adapter by its GID, the queue pair by its number, and whether that
 * takes messages of this sender.
 */
#pragma once

#include "deliver.h"

/* The queue pair that takes @msg, on adapter @hca. NULL if there is none. */
struct hca_qp *route_find(const struct message *msg, struct hca **hca);

/* Whether what @peer answers comes to @from, which sent to it. */
bool route_hears(const struct hca_qp *from, const struct hca_qp *peer);
