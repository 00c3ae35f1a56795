/*
 * The sets that this process was offered by its parent, and the scripts that it teaches. Verbs come
 * here first (preload/interpose/verbs_objects.c); where neither is there, wv_child_follows is false
 * and that is all.
 */
#pragma once

#include "preload/prefork/prefork_shm.h"
#include "preload/prefork/set.h"

#define WV_CHILD_SETS 16

struct wv_offer {
	struct wv_set *set;
	struct wv_claim_slot *ticket;
	uint64_t state;
};

extern bool wv_child_follows;

static inline bool wv_child_is_following(void)
{
	return __builtin_expect(__atomic_load_n(&wv_child_follows, __ATOMIC_RELAXED), 0);
}

/*
 * In a child, before anything else runs in it: it may take what is in @offers, and teaches what is
 * not known to @home (NULL: nobody). Of what its parent had itself nothing is left to it.
 */
void wv_child_begin(const struct wv_offer *offers, unsigned int n, struct wv_prefork_shm *home);

/* Around a fork of this process: nothing here changes meanwhile. */
void wv_child_lock(void);
void wv_child_unlock(void);

/*
 * From now on, until the other call, what this thread does with devices is taught to @home, as if
 * it were a child of it.
 */
void wv_child_rehearse(struct wv_prefork_shm *home);
void wv_child_end_rehearsal(void);

/* The device list as the parent has it, if a set waits. NULL: list plainly. */
struct ibv_device **wv_child_list(int *n);
/* ibv_free_device_list() of such a list; false: it is libibverbs' own. */
bool wv_child_end_list(struct ibv_device **list);

/* A context from a set, or opened plainly. NULL and errno. */
struct ibv_context *wv_child_open(struct ibv_device *device);

/*
 * Carries out @verb, which names the objects @on, in @context: takes the object from its set, with
 * what making it answered in *@made, or has it made by @real(@args). NULL: @real said so, with
 * errno; *@made is left alone where @real was called.
 */
void *wv_child_make(struct ibv_context *context, struct wv_verb *verb, const void *const on[WV_ON],
		    void *(*real)(void *args), void *args, struct wv_made *made);

/* ibv_modify_qp() and ibv_query_qp(). */
int wv_child_move(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int wv_child_query(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		   struct ibv_qp_init_attr *init);

/* Destroys @object of @context by @real; before it, what the set has that uses it. */
int wv_child_destroy(struct ibv_context *context, void *object, int (*real)(void *object));

/* ibv_close_device(). */
int wv_child_close(struct ibv_context *context);

/*
 * From now on @context gives what no set has, such as queues in memory of the program's choice:
 * nothing more is taken or taught.
 */
void wv_child_stop(struct ibv_context *context);

/* The functions behind a context of a set or a script; false: it is of neither. */
bool wv_child_ops(const struct ibv_context *context, struct wv_context_ops *ops);

/* The program closed @fd, which may be of a set that waits: it is given back. */
void wv_child_lose_fd(int fd);

/* The process ends: what is being taught is complete. */
void wv_child_end(void);
