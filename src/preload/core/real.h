/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions behind those that this library interposes: the next definitions in the search
 * order, so that other preloaded libraries and libc are still called.
 *
 * All of them are in one table, and are bound before this library takes its first lock: binding
 * takes the loader's lock, and a plugin's constructor may hold that lock while it waits for a lock
 * of this library. A function is bound at its first use only if it is called earlier, since a
 * library that is preloaded into every process of a machine must not look up anything at start.
 *
 * Only interposed functions use REAL(). Everywhere else in this library, close() and its like are
 * the real functions already, because the linker redirects them (--wrap, see interpose/wrap.c).
 */
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <infiniband/verbs.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Only libcap declares this function of libc. */
int capset(cap_user_header_t header, cap_user_data_t data);

/*
 * Functions of libc, by their 64-bit names: the same functions on 64-bit machines, and right for
 * large files elsewhere.
 */
#define WV_REAL_LIBC(SYMBOL)                                                                       \
	SYMBOL(open64)                                                                             \
	SYMBOL(openat64)                                                                           \
	SYMBOL(close)                                                                              \
	SYMBOL(close_range)                                                                        \
	SYMBOL(closefrom)                                                                          \
	SYMBOL(dup)                                                                                \
	SYMBOL(dup2)                                                                               \
	SYMBOL(dup3)                                                                               \
	SYMBOL(fcntl64)                                                                            \
	SYMBOL(ioctl)                                                                              \
	SYMBOL(read)                                                                               \
	SYMBOL(write)                                                                              \
	SYMBOL(mmap64)                                                                             \
	SYMBOL(fopen64)                                                                            \
	SYMBOL(socket)                                                                             \
	SYMBOL(prctl)                                                                              \
	SYMBOL(fork)

/*
 * Those by which few processes change their rights and limits: bound at the first use, with no lock
 * held.
 */
#define WV_REAL_RIGHTS(SYMBOL)                                                                     \
	SYMBOL(setuid)                                                                             \
	SYMBOL(setgid)                                                                             \
	SYMBOL(seteuid)                                                                            \
	SYMBOL(setegid)                                                                            \
	SYMBOL(setreuid)                                                                           \
	SYMBOL(setregid)                                                                           \
	SYMBOL(setresuid)                                                                          \
	SYMBOL(setresgid)                                                                          \
	SYMBOL(setfsuid)                                                                           \
	SYMBOL(setfsgid)                                                                           \
	SYMBOL(setgroups)                                                                          \
	SYMBOL(initgroups)                                                                         \
	SYMBOL(capset)                                                                             \
	SYMBOL(setns)                                                                              \
	SYMBOL(unshare)                                                                            \
	SYMBOL(setrlimit)                                                                          \
	SYMBOL(setrlimit64)                                                                        \
	SYMBOL(prlimit)                                                                            \
	SYMBOL(prlimit64)

/*
 * What the fortified headers call: each ends a program that passes what cannot be right. No lock is
 * held where they are called, so each is bound at its first use.
 */
#define WV_REAL_CHECKED(SYMBOL)                                                                    \
	SYMBOL(__open_2, int, (const char *path, int flags))                                       \
	SYMBOL(__open64_2, int, (const char *path, int flags))                                     \
	SYMBOL(__openat_2, int, (int dir, const char *path, int flags))                            \
	SYMBOL(__openat64_2, int, (int dir, const char *path, int flags))                          \
	SYMBOL(__read_chk, ssize_t, (int fd, void *buffer, size_t bytes, size_t room))

/*
 * Functions of libibverbs, with their symbol versions. They are in groups, and each group is bound
 * at its first use, because one look-up costs 1 us. The first group is what programs use before
 * they move a queue pair to INIT.
 */
#define WV_REAL_USUAL_VERBS(VERB)                                                                  \
	VERB(get_device_list, "IBVERBS_1.1")                                                       \
	VERB(free_device_list, "IBVERBS_1.1")                                                      \
	VERB(open_device, "IBVERBS_1.1")                                                           \
	VERB(alloc_pd, "IBVERBS_1.1")                                                              \
	VERB(create_comp_channel, "IBVERBS_1.0")                                                   \
	VERB(create_srq, "IBVERBS_1.1")                                                            \
	VERB(create_cq, "IBVERBS_1.1")                                                             \
	VERB(create_qp, "IBVERBS_1.1")                                                             \
	VERB(modify_qp, "IBVERBS_1.1")

/* All other verbs that create, move, query and destroy objects. */
#define WV_REAL_OTHER_VERBS(VERB)                                                                  \
	VERB(close_device, "IBVERBS_1.1")                                                          \
	VERB(destroy_comp_channel, "IBVERBS_1.0")                                                  \
	VERB(dealloc_pd, "IBVERBS_1.1")                                                            \
	VERB(destroy_cq, "IBVERBS_1.1")                                                            \
	VERB(destroy_srq, "IBVERBS_1.1")                                                           \
	VERB(destroy_qp, "IBVERBS_1.1")                                                            \
	VERB(query_qp, "IBVERBS_1.1")                                                              \
	VERB(query_gid, "IBVERBS_1.1")

/*
 * Verbs about memory, which most programs call later or never. Older libraries lack the last ones.
 */
#define WV_REAL_MEMORY_VERBS(VERB)                                                                 \
	VERB(reg_mr, "IBVERBS_1.1")                                                                \
	VERB(dereg_mr, "IBVERBS_1.1")                                                              \
	VERB(reg_mr_iova, "IBVERBS_1.7")                                                           \
	VERB(reg_mr_iova2, "IBVERBS_1.8")

/* Verbs for providers, in no public header (rdma-core, libibverbs/driver.h). */
#define WV_REAL_FORK_VERBS(VERB)                                                                   \
	VERB(dontfork_range, "IBVERBS_1.1")                                                        \
	VERB(dofork_range, "IBVERBS_1.1")

#define WV_REAL_FORK_VERB(name, version)    int (*name)(void *base, size_t size);
#define WV_REAL_FUNCTION(name)		    __typeof__(&name) name;
#define WV_REAL_CHECK(name, result, params) result(*name) params;
#define WV_REAL_VERB(name, version)	    __typeof__(&ibv_##name) name;
struct wv_real {
	WV_REAL_LIBC(WV_REAL_FUNCTION)
	WV_REAL_RIGHTS(WV_REAL_FUNCTION)
	WV_REAL_CHECKED(WV_REAL_CHECK)
	WV_REAL_USUAL_VERBS(WV_REAL_VERB)
	WV_REAL_OTHER_VERBS(WV_REAL_VERB)
	WV_REAL_MEMORY_VERBS(WV_REAL_VERB)
	WV_REAL_FORK_VERBS(WV_REAL_FORK_VERB)
};

extern struct wv_real wv_real;

/* The next function @name of libc; bound here if wv_real_bind_libc() was not called. */
#define REAL(name)                                                                                 \
	({                                                                                         \
		void *fn_ = __atomic_load_n((void **)&wv_real.name, __ATOMIC_RELAXED);             \
		if (__builtin_expect(!fn_, 0))                                                     \
			fn_ = wv_real_bind((void **)&wv_real.name);                                \
		(__typeof__(&name))fn_;                                                            \
	})

/* Binds a function of libc, whose place in wv_real is @bound, and returns it. */
void *wv_real_bind(void **bound);

/* Binds all functions of libc but those that check. Call with no lock held. */
void wv_real_bind_libc(void);

/*
 * The table with the verbs of libibverbs bound, or NULL if there is no libibverbs. Loads libibverbs
 * if it is not loaded: the linker leaves it out of a program that finds all its verbs in this
 * library (--as-needed). Can be called from any thread. The first call takes the loader's lock, so
 * call it with no lock held.
 */
const struct wv_real *wv_real_verbs(void);

/* Whether the program has libibverbs, which the others may load. */
bool wv_real_has_verbs(void);

/*
 * Whether ibv_fork_init() has libibverbs withhold memory from children; true if that cannot be
 * known (before rdma-core 38).
 */
bool wv_real_protects_forks(void);

/* The same, with only the usual verbs bound. */
const struct wv_real *wv_real_usual_verbs(void);

/* The same for the verbs about memory. Verbs that libibverbs lacks are NULL. Never returns NULL. */
const struct wv_real *wv_real_memory_verbs(void);

/*
 * The next definition of @name at its symbol version, or the one in @library if that was loaded
 * with RTLD_LOCAL. NULL: @library is not loaded. Takes the loader's lock.
 */
void *wv_real_symbol(const char *library, const char *name, const char *version);

/* The same; @library is not unloaded any more. */
void *wv_real_lasting_symbol(const char *library, const char *name, const char *version);
