/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spares: queue pairs that are made ahead in a process that makes queue pairs of one kind again and
 * again, as a server does for its clients. No lease is needed. Where no spare fits, the genuine
 * verbs of libibverbs are called.
 *
 * Can be called from any thread, with no lock held.
 */
#pragma once

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>

/* ibv_create_qp(). moves.h has the other verbs. */
struct ibv_qp *wv_spares_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);

/*
 * Spares take up what the program may need: a number of queue pairs, memory that may be locked.
 * Whether errno says that something is used up, and spares were given back: all of this process,
 * and of its parents those of @context. Keeps errno.
 */
bool wv_spares_make_room(const struct ibv_context *context);

/* What @call, which creates something in @context, returns: a pointer, or NULL and errno. */
#define WV_WITH_ROOM(context, call)                                                                \
	({                                                                                         \
		__typeof__(call) made_ = (call);                                                   \
		if (__builtin_expect(!made_, 0) && wv_spares_make_room(context))                   \
			made_ = (call);                                                            \
		made_;                                                                             \
	})

/*
 * The program destroys @object, a PD, CQ or SRQ of @context, or the context: gives back the spares
 * that use it (NULL: all spares that make room). Returns whether there were any.
 */
bool wv_spares_give_back(const struct ibv_context *context, const void *object);

/* What @destroy, a verb that destroys @object, returns once no spare uses the object. */
#define WV_WITHOUT_SPARES(object, destroy)                                                         \
	({                                                                                         \
		unsigned int tries_ = WV_SPARES_TRIES;                                             \
		int error_;                                                                        \
		wv_spares_give_back((object)->context, object);                                    \
		do                                                                                 \
			error_ = (destroy);                                                        \
		while (__builtin_expect(error_ == EBUSY, 0) && --tries_ &&                         \
		       wv_spares_give_back((object)->context, object));                            \
		error_;                                                                            \
	})
#define WV_SPARES_TRIES 8 /* another process may make further ones meanwhile */
