/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A preload behind libwarmverbs that counts what the library locks and what it looks up, and
 * how often it looks up while it holds a lock: a plugin's constructor, which runs under the
 * loader's lock, may wait for that lock of the library. Prints the counts on stderr at the end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

static __thread int held __attribute__((tls_model("initial-exec"))); /* locks of the library */
static unsigned int locks, look_ups, under_a_lock;

static struct {
	int (*lock)(pthread_mutex_t *);
	int (*trylock)(pthread_mutex_t *);
	int (*unlock)(pthread_mutex_t *);
	void *(*sym)(void *, const char *);
} next;

/* dlvsym() is not interposed here. */
static void *find(const char *name)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
	void *fn = NULL;

	for (unsigned int i = 0; !fn && i < sizeof(versions) / sizeof(versions[0]); i++)
		fn = dlvsym(RTLD_NEXT, name, versions[i]);
	return fn;
}

#define NEXT(name, symbol) (next.name ?: (*(void **)&next.name = find(symbol), next.name))

static bool is_library(void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) && strstr(info.dli_fname, "libwarmverbs");
}

#define BY_LIBRARY is_library(__builtin_return_address(0))

static void note_lock(bool by_library)
{
	held += by_library;
	locks += by_library;
}

PUBLIC int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	note_lock(BY_LIBRARY);
	return NEXT(lock, "pthread_mutex_lock")(mutex);
}

PUBLIC int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	int error = NEXT(trylock, "pthread_mutex_trylock")(mutex);

	note_lock(!error && BY_LIBRARY);
	return error;
}

PUBLIC int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	held -= BY_LIBRARY;
	return NEXT(unlock, "pthread_mutex_unlock")(mutex);
}

static void note_look_up(const char *name)
{
	look_ups++;
	if (!held)
		return;
	under_a_lock++;
	fprintf(stderr, "looked up under a lock: %s\n", name);
}

/*
 * dlsym(RTLD_NEXT) goes by the return address, so it must be jumped to: meson.build has it
 * optimized.
 */
PUBLIC void *dlsym(void *handle, const char *name)
{
	if (BY_LIBRARY)
		note_look_up(name);
	return NEXT(sym, "dlsym")(handle, name);
}

__attribute__((destructor)) static void tell(void)
{
	fprintf(stderr, "locks %u look-ups %u under-a-lock %u\n", locks, look_ups, under_a_lock);
}
