/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/real.h"

#include "base/base.h"

#include <dlfcn.h>

#define VERBS_LIBRARY "libibverbs.so.1"

struct wv_real wv_real WV_START;

static bool usual_verbs_bound, verbs_bound, memory_verbs_bound;

/* In the order of struct wv_real. */
#define NAME(name, ...) #name,
static char libc_names[][13] WV_NAMES = {WV_REAL_LIBC(NAME) WV_REAL_RIGHTS(NAME)
					     WV_REAL_CHECKED(NAME)};
#undef NAME

#define FITS(name, ...)                                                                            \
	_Static_assert(sizeof(#name) <= sizeof(libc_names[0]), "the name needs its end mark");
WV_REAL_LIBC(FITS)
WV_REAL_RIGHTS(FITS)
WV_REAL_CHECKED(FITS)
#undef FITS

WV_UNSANITIZED void *wv_real_bind(void **bound)
{
	void *fn = dlsym(RTLD_NEXT, libc_names[bound - (void **)&wv_real]);

	__atomic_store_n(bound, fn, __ATOMIC_RELAXED);
	return fn;
}

void wv_real_bind_libc(void)
{
#define BIND(name) wv_real_bind((void **)&wv_real.name);
	WV_REAL_LIBC(BIND)
#undef BIND
}

static void *find(const char *library, int how, const char *name, const char *version)
{
	void *fn = dlvsym(RTLD_NEXT, name, version);
	void *loaded;

	if (fn)
		return fn;
	loaded = dlopen(library, RTLD_LAZY | how);
	if (!loaded)
		return NULL;
	fn = dlvsym(loaded, name, version);
	dlclose(loaded);
	return fn;
}

void *wv_real_symbol(const char *library, const char *name, const char *version)
{
	return find(library, RTLD_NOLOAD, name, version);
}

void *wv_real_lasting_symbol(const char *library, const char *name, const char *version)
{
	return find(library, RTLD_NOLOAD | RTLD_NODELETE, name, version);
}

static bool bind_verb(void **bound, const char *name, const char *version)
{
	void *verb = find(VERBS_LIBRARY, RTLD_NODELETE, name, version);

	__atomic_store_n(bound, verb, __ATOMIC_RELAXED);
	return verb;
}

#define BIND_VERB(name, version) all &= bind_verb((void **)&wv_real.name, "ibv_" #name, version);

/* Several threads may do this at the same time: they write the same values. */
static bool bind_usual(void)
{
	bool all = true;

	WV_REAL_USUAL_VERBS(BIND_VERB)
	__atomic_store_n(&usual_verbs_bound, all, __ATOMIC_RELEASE);
	return all;
}

const struct wv_real *wv_real_usual_verbs(void)
{
	return __atomic_load_n(&usual_verbs_bound, __ATOMIC_ACQUIRE) || bind_usual() ? &wv_real
										     : NULL;
}

static bool bind_others(void)
{
	bool all = wv_real_usual_verbs();

	WV_REAL_OTHER_VERBS(BIND_VERB)
	__atomic_store_n(&verbs_bound, all, __ATOMIC_RELEASE);
	return all;
}

bool wv_real_has_verbs(void)
{
	return wv_real_symbol(VERBS_LIBRARY, "ibv_open_device", "IBVERBS_1.1");
}

bool wv_real_protects_forks(void)
{
	enum ibv_fork_status (*status)(void) = (__typeof__(status))wv_real_symbol(
	    VERBS_LIBRARY, "ibv_is_fork_initialized", "IBVERBS_1.13");

	return !status || status() == IBV_FORK_ENABLED;
}

const struct wv_real *wv_real_verbs(void)
{
	return __atomic_load_n(&verbs_bound, __ATOMIC_ACQUIRE) || bind_others() ? &wv_real : NULL;
}

static void bind_memory_verbs(void)
{
	bool all = true;

	WV_REAL_MEMORY_VERBS(BIND_VERB)
	WV_REAL_FORK_VERBS(BIND_VERB)
	(void)all; /* callers test the verb that they need */
	__atomic_store_n(&memory_verbs_bound, true, __ATOMIC_RELEASE);
}

const struct wv_real *wv_real_memory_verbs(void)
{
	if (!__atomic_load_n(&memory_verbs_bound, __ATOMIC_ACQUIRE))
		bind_memory_verbs();
	return &wv_real;
}
