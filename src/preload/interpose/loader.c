/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dlopen(), dlsym() and dlvsym(), for programs that load libibverbs and look its verbs up: they get
 * this library's verbs instead of those that they would have got, as a linked program does. Nothing
 * else that is looked up is answered here, or changed.
 */
#include "preload/interpose/loader.h"

#include "base/base.h"
#include "preload/core/real.h"
#include "preload/core/settings.h"
#include "preload/core/symbol.h"
#include "preload/providers.h"

#include <dlfcn.h>

/* The next definitions. Not in wv_real, which is filled with their help. */
static struct {
	__typeof__(&dlopen) dlopen;
	__typeof__(&dlsym) dlsym;
	__typeof__(&dlvsym) dlvsym;
} next WV_START;

static char names[][8] WV_NAMES = {"dlopen", "dlsym", "dlvsym"};

/*
 * Libraries besides those of providers. Loaded with RTLD_DEEPBIND, one would pass by this library
 * and call the others and libc.
 */
static const struct wv_library libraries[] = {
    {"libibverbs.so.1", "ibv_"},
    {"librdmacm.so.1", "rdma_"},
};
#define VERBS (&libraries[0])

/*
 * The list of libraries that debuggers read (link.h) tells sooner than dladdr1(), which looks at
 * all symbols of this library. It lacks the namespaces of dlmopen().
 */
WV_UNSANITIZED static struct link_map *own_library(void)
{
	struct link_map *own = _r_debug.r_map;
	Dl_info info;

	while (own && own->l_ld != _DYNAMIC)
		own = own->l_next;
	if (!own)
		dladdr1(&next, &info, (void **)&own, RTLD_DL_LINKMAP);
	return own;
}

/*
 * What dlsym(RTLD_NEXT) would find. Libraries are in the order in which they were loaded: libc is
 * in front only if a plugin has brought this library.
 */
WV_UNSANITIZED static void *find_next(const char *name)
{
	const struct link_map *own = own_library(), *library;
	struct wv_symbol found = {NULL};

	for (library = own->l_next; library && !wv_symbol_find(library, name, &found);)
		library = library->l_next;
	for (library = own->l_prev; library && !found.at; library = library->l_prev)
		wv_symbol_find(library, name, &found);
	return found.at;
}

WV_UNSANITIZED static void *bound(void **place)
{
	void *fn = __atomic_load_n(place, __ATOMIC_RELAXED);

	if (__builtin_expect(!fn, 0)) {
		fn = find_next(names[place - (void **)&next]);
		__atomic_store_n(place, fn, __ATOMIC_RELAXED);
	}
	return fn;
}

#define NEXT(name) ((__typeof__(&name))bound((void **)&next.name))

WV_UNSANITIZED void *__wrap_dlopen(const char *file, int mode)
{
	return NEXT(dlopen)(file, mode);
}

WV_UNSANITIZED void *__wrap_dlsym(void *handle, const char *name)
{
	return NEXT(dlsym)(handle, name);
}

WV_UNSANITIZED void *__wrap_dlvsym(void *handle, const char *name, const char *version)
{
	return NEXT(dlvsym)(handle, name, version);
}

/* Not strncmp(): a sanitizer's is not ready when the first program looks something up. */
WV_UNSANITIZED static bool begins_with(const char *text, const char *prefix)
{
	while (*prefix && *text == *prefix)
		text++, prefix++;
	return !*prefix;
}

WV_UNSANITIZED static bool has_verb(const struct wv_library *library, const char *name)
{
	return begins_with(name, library->prefix);
}

/* Under any version: "libNAME.so", "libNAME.so.1", "libNAME.so.1.2.3". */
WV_UNSANITIZED static bool is_file(const struct wv_library *library, const char *file)
{
	const char *name = library->name;

	while (*name && *file == *name)
		file++, name++;
	return !*name || (!*file && name[0] == '.' && name[1] >= '0' && name[1] <= '9');
}

WV_UNSANITIZED static const struct wv_library *
library_that(bool (*fits)(const struct wv_library *, const char *), const char *text)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(libraries); i++)
		if (fits(&libraries[i], text))
			return &libraries[i];
	return wv_provider_library(fits, text);
}

/* The libibverbs whose verbs this library calls, once it has given out the first of its own. */
static const struct link_map *genuine_verbs;

/*
 * The function that this library calls in its own @name. Once genuine_verbs is known, no memory is
 * allocated: a program may look up in a signal handler.
 */
static void *genuine(const struct wv_library *library, const char *name, const char *version)
{
	const struct link_map *map = __atomic_load_n(&genuine_verbs, __ATOMIC_ACQUIRE);
	struct wv_symbol found;

	if (library != VERBS || !map)
		return wv_real_symbol(library->name, name, version);
	return wv_symbol_find(map, name, &found) && found.version && !strcmp(found.version, version)
		   ? found.at
		   : NULL;
}

/*
 * What is given out in place of @real calls it, so its library stays loaded from now on. All
 * verbs are bound, lest some be found in another libibverbs that the program loads later.
 */
static bool settle(const struct wv_library *library, const void *real)
{
	struct link_map *map = NULL;
	void *loaded;
	Dl_info info;

	if (library == VERBS && __atomic_load_n(&genuine_verbs, __ATOMIC_RELAXED))
		return true;
	if (library == VERBS) {
		wv_real_verbs();
		wv_real_memory_verbs();
	}
	/* Last, because dlerror() is empty after it. */
	if (!dladdr1(real, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	loaded = NEXT(dlopen)(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (!loaded)
		return false;
	dlclose(loaded);
	if (library == VERBS)
		__atomic_store_n(&genuine_verbs, map, __ATOMIC_RELEASE);
	return true;
}

/* @version is NULL for the default version. */
static uintptr_t replacement(void *handle, const struct wv_library *library, const char *name,
			     const char *version)
{
	struct wv_symbol own;
	void *real, *found;

	if (!wv_symbol_find(own_library(), name, &own) || !own.version)
		return 0;
	real = genuine(library, name, own.version);
	if (!real)
		return 0;
	found = version ? NEXT(dlvsym)(handle, name, version) : NEXT(dlsym)(handle, name);
	return found == real && settle(library, real) ? (uintptr_t)own.at : 0;
}

WV_UNSANITIZED static const struct wv_library *library_of(const char *name)
{
	const struct wv_library *library = library_that(has_verb, name);

	return library && wv_settings()->enabled ? library : NULL;
}

static bool is_main(const void *caller)
{
	struct link_map *map;
	Dl_info info;

	return dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) && map == _r_debug.r_map;
}

/*
 * Whether only this library has @name in the scope of @caller, which is that of the program unless
 * a plugin's code calls. Then the program finds nothing, as without this library.
 */
static bool is_only_here(const struct wv_library *library, const char *name, const char *version,
			 const void *caller)
{
	struct wv_symbol own;

	if (!wv_symbol_find(own_library(), name, &own) || !own.version ||
	    (version && strcmp(version, own.version) != 0) ||
	    NEXT(dlsym)(RTLD_DEFAULT, name) != own.at || NEXT(dlvsym)(RTLD_NEXT, name, own.version))
		return false;
	return is_main(caller) || !genuine(library, name, own.version);
}

/* dlsym() and dlvsym() of what only this library has: they find nothing. */
static void *look_up_behind(void *handle, const char *name)
{
	void *volatile none = NEXT(dlsym)(RTLD_NEXT, name); /* called, not jumped to */

	(void)handle;
	return none;
}

static void *look_up_version_behind(void *handle, const char *name, const char *version)
{
	void *volatile none = NEXT(dlvsym)(RTLD_NEXT, name, version);

	(void)handle;
	return none;
}

WV_UNSANITIZED static bool is_scope(void *handle)
{
	return handle == RTLD_DEFAULT || handle == RTLD_NEXT;
}

/* The scope of the caller has this library in its place already. */
WV_UNSANITIZED struct wv_route wv_route_dlsym(void *handle, const char *name, const void *caller)
{
	const struct wv_library *library = library_of(name);
	struct wv_route route = {0, (void *)NEXT(dlsym)};

	if (library && !is_scope(handle))
		route.value = replacement(handle, library, name, NULL);
	else if (library && is_only_here(library, name, NULL, caller))
		route.next = (void *)look_up_behind;
	return route;
}

WV_UNSANITIZED struct wv_route wv_route_dlvsym(void *handle, const char *name, const char *version,
					       const void *caller)
{
	const struct wv_library *library = library_of(name);
	struct wv_route route = {0, (void *)NEXT(dlvsym)};

	if (library && !is_scope(handle))
		route.value = replacement(handle, library, name, version);
	else if (library && is_only_here(library, name, version, caller))
		route.next = (void *)look_up_version_behind;
	return route;
}

WV_UNSANITIZED static const char *base_name(const char *path)
{
	const char *name = path;

	for (; *path; path++)
		if (*path == '/')
			name = path + 1;
	return name;
}

WV_UNSANITIZED struct wv_route wv_route_dlopen(const char *file, int mode)
{
	if (mode & RTLD_DEEPBIND && file && library_that(is_file, base_name(file)) &&
	    wv_settings()->enabled)
		mode &= ~RTLD_DEEPBIND;
	return (struct wv_route){(unsigned int)mode, (void *)NEXT(dlopen)};
}
