/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program may tell a provider that one thread uses a context, or an object in it: by the
 * environment, IBV_CREATE_CQ_ATTR_SINGLE_THREADED or a parent domain with a thread domain. The
 * provider takes no locks then, so no thread of this library may use the context. Nor may one where
 * a parent domain or the context has allocators of the program's.
 */
#pragma once

#include <infiniband/verbs.h>
#include <stdbool.h>

struct wv_context;

/* @verbs, the context of @c, was opened, and @c is not in use yet. */
void wv_one_thread_watch(struct ibv_context *verbs, struct wv_context *c);

/* No thread of this library may use @verbs from now on. Takes the lock. */
void wv_one_thread_note(const struct ibv_context *verbs);

/* @verbs is to have a CQ with @attr. Takes the lock. */
void wv_one_thread_note_cq(const struct ibv_context *verbs, const struct ibv_cq_init_attr_ex *attr);

/* Whether threads of this library may use the context of @fd. Takes no lock. */
bool wv_one_thread_is_not_told(int fd);
