#include "preload/core/real_verbs.h"

#include "preload/core/real.h"

#include <stdbool.h>

static struct wv_real_verbs verbs;
static bool complete;

/* Threads that do this at once write the same. */
static void bind_all(void)
{
	bool all = true;
	void *verb;

#define VERB(name, version)                                                                        \
	verb = real_verb("ibv_" #name, version);                                                   \
	all = all && verb;                                                                         \
	__atomic_store_n((void **)&verbs.name, verb, __ATOMIC_RELAXED);
	WV_REAL_VERBS(VERB)
#undef VERB
	__atomic_store_n(&complete, all, __ATOMIC_RELEASE);
}

const struct wv_real_verbs *wv_real_verbs(void)
{
	if (!__atomic_load_n(&complete, __ATOMIC_ACQUIRE))
		bind_all();
	return __atomic_load_n(&complete, __ATOMIC_ACQUIRE) ? &verbs : NULL;
}
