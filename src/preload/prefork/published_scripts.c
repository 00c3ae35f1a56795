/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/published_scripts.h"

#include <string.h>

static bool is_in_use(const struct wv_published_script *p)
{
	return __atomic_load_n(&p->phase, __ATOMIC_ACQUIRE) == WV_SCRIPT_THERE &&
	       __atomic_load_n(&p->misses, __ATOMIC_RELAXED) < WV_SCRIPT_MISSES;
}

static struct wv_published_script *find(struct wv_published_scripts *scripts,
					const struct wv_verb *open)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct wv_published_script *p = &scripts->all[i];

		if (is_in_use(p) && !memcmp(&p->script.verbs[0], open, sizeof(*open)))
			return p;
	}
	return NULL;
}

bool wv_scripts_know(struct wv_published_scripts *scripts, const struct wv_verb *open)
{
	return find(scripts, open);
}

static bool is_same(const struct wv_script *a, const struct wv_script *b)
{
	return a->n == b->n && a->open_number == b->open_number &&
	       !memcmp(a->verbs, b->verbs, a->n * sizeof(a->verbs[0]));
}

bool wv_scripts_are_there(const struct wv_published_scripts *scripts)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++)
		if (is_in_use(&scripts->all[i]))
			return true;
	return false;
}

bool wv_scripts_publish(struct wv_published_scripts *scripts, const struct wv_script *script,
			bool replace)
{
	struct wv_published_script *known = find(scripts, &script->verbs[0]);

	if (known && (!replace || is_same(&known->script, script)))
		return false;
	if (known)
		__atomic_store_n(&known->misses, WV_SCRIPT_MISSES, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct wv_published_script *p = &scripts->all[i];
		uint32_t empty = WV_SCRIPT_EMPTY;

		if (!__atomic_compare_exchange_n(&p->phase, &empty, WV_SCRIPT_WRITING, false,
						 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		memcpy(p->script.verbs, script->verbs, script->n * sizeof(script->verbs[0]));
		p->script.n = script->n;
		p->script.open_number = script->open_number;
		p->misses = 0;
		__atomic_store_n(&p->phase, WV_SCRIPT_THERE, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

void wv_scripts_judge(struct wv_published_scripts *scripts, const struct wv_verb *open, bool fits)
{
	struct wv_published_script *p = find(scripts, open);

	if (!p)
		return;
	if (!fits)
		__atomic_fetch_add(&p->misses, 1, __ATOMIC_RELAXED);
	else if (__atomic_load_n(&p->misses, __ATOMIC_RELAXED))
		__atomic_store_n(&p->misses, 0, __ATOMIC_RELAXED);
}
