/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts that go on: each is a child of the supervisor, and somebody's program. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-event.h>

struct wv_starts;

int wv_starts_new(sd_event *event, struct wv_starts **starts);
void wv_starts_free(struct wv_starts *starts);

/*
 * Takes over @connection, to which the status of @pid is sent. If the client ends before, the child
 * is killed: the client is what others take for the program. Returns 0, or -errno after which the
 * child is not known here.
 */
int wv_starts_add(struct wv_starts *starts, pid_t pid, int connection);

/* The process has ended, with this status of waitpid(2). False if it was no start. */
bool wv_starts_end(struct wv_starts *starts, pid_t pid, int status);

uint32_t wv_starts_number(const struct wv_starts *starts);
