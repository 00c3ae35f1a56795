/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/spy.h"
#include "warmverbs-template.h"

#include "base/base.h"

#include <dlfcn.h>
#include <locale.h>

#define MOST_BYTES ((size_t)32 << 10)

/* Each "NAME=VALUE", or "NAME" if it was not set. */
static char notes[MOST_BYTES];
static size_t n_bytes;
static bool is_over, is_full;

/*
 * Read by ld.so(8), by functions of libc that do not call getenv(3), and by libraries whose
 * constructors look through the whole environment. The last are read by setlocale(3), if the
 * program has called that.
 */
static const char *const prefixes[] = {
    "LD_",  "GLIBC_TUNABLES", "MALLOC_", "TZ",	"LOCALDOMAIN", "RES_OPTIONS", "POSIXLY_CORRECT",
    "OMP_", "GOMP_",	      "KMP_",	 "LC_", "LANG",	       "LOCPATH",     "NLSPATH",
};
enum { OF_LOCALES = 4 };
static bool reads_locales;

static size_t name_length(const char *note)
{
	return strcspn(note, "=");
}

static bool is_noted(const char *name, size_t length)
{
	for (const char *note = notes; note < notes + n_bytes; note += strlen(note) + 1)
		if (name_length(note) == length && !strncmp(note, name, length))
			return true;
	return false;
}

/* libwarmverbs.so reads its settings anew in each start. */
static bool is_read_anew(const char *name)
{
	return !strncmp(name, "WARMVERBS_", strlen("WARMVERBS_"));
}

void wv_spy_note(const char *name, size_t length, const char *value)
{
	size_t bytes = length + (value ? strlen(value) + 1 : 0) + 1;

	if (is_read_anew(name) || is_noted(name, length))
		return;
	is_full |= bytes > MOST_BYTES - n_bytes;
	if (is_full)
		return;
	snprintf(notes + n_bytes, bytes, value ? "%.*s=%s" : "%.*s", (int)length, name, value);
	n_bytes += bytes;
}

/* libc's own, found before other constructors can call this one. */
static char *(*next_getenv)(const char *), *(*next_secure_getenv)(const char *);

static char *spied(char *(*next)(const char *), const char *name)
{
	char *value = next(name);

	if (!is_over)
		wv_spy_note(name, strlen(name), value);
	return value;
}

#define NEXT(slot, name) (slot ? slot : (slot = (__typeof__(slot))dlsym(RTLD_NEXT, name)))

WV_PUBLIC char *getenv(const char *name)
{
	return spied(NEXT(next_getenv, "getenv"), name);
}

WV_PUBLIC char *secure_getenv(const char *name)
{
	return spied(NEXT(next_secure_getenv, "secure_getenv"), name);
}

/* The whole environment was read. */
static bool reads_all;

WV_PUBLIC void wv_template_note(const char *name)
{
	if (!name) {
		reads_all |= !is_over;
		return;
	}
	spied(NEXT(next_getenv, "getenv"), name);
}

/* What a program sets may be what it was before, which nobody sees. */
WV_PUBLIC int setenv(const char *name, const char *value, int overwrite)
{
	__typeof__(&setenv) next = dlsym(RTLD_NEXT, "setenv");

	wv_template_note(name);
	return next(name, value, overwrite);
}

WV_PUBLIC int unsetenv(const char *name)
{
	__typeof__(&unsetenv) next = dlsym(RTLD_NEXT, "unsetenv");

	wv_template_note(name);
	return next(name);
}

WV_PUBLIC int putenv(char *variable)
{
	__typeof__(&putenv) next = dlsym(RTLD_NEXT, "putenv");
	wv_auto_free char *name = strndup(variable, name_length(variable));

	if (name)
		wv_template_note(name);
	return next(variable);
}

WV_PUBLIC int clearenv(void)
{
	__typeof__(&clearenv) next = dlsym(RTLD_NEXT, "clearenv");

	wv_template_note(NULL);
	return next();
}

/* "" is what the environment says. */
static void spy_on_locale(const char *locale)
{
	reads_locales |= !is_over && locale && !*locale;
}

WV_PUBLIC char *setlocale(int category, const char *locale)
{
	static char *(*found)(int, const char *);
	char *(*next)(int, const char *) = NEXT(found, "setlocale");

	spy_on_locale(locale);
	return next(category, locale);
}

WV_PUBLIC locale_t newlocale(int categories, const char *locale, locale_t base)
{
	static locale_t (*found)(int, const char *, locale_t);
	locale_t (*next)(int, const char *, locale_t) = NEXT(found, "newlocale");

	spy_on_locale(locale);
	return next(categories, locale, base);
}

static bool is_always_read(const char *variable)
{
	size_t n = WV_ARRAY_SIZE(prefixes) - (reads_locales ? 0 : OF_LOCALES);

	for (size_t i = 0; i < n; i++)
		if (!strncmp(variable, prefixes[i], strlen(prefixes[i])))
			return true;
	return reads_all && !is_read_anew(variable);
}

const char *wv_spy_end(void)
{
	for (char **variable = environ; *variable; variable++)
		if (is_always_read(*variable))
			wv_spy_note(*variable, name_length(*variable),
				    *variable + name_length(*variable) + 1);
	is_over = true;
	return is_full ? "it has read variables of more than 32 KB" : NULL;
}

/* Its value in @environment, as getenv(3) finds it; NULL if it is not set. */
static const char *value_in(char *const *environment, const char *name, size_t length)
{
	for (; *environment; environment++)
		if (!strncmp(*environment, name, length) && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static bool is_as_noted(char *const *environment, const char *note)
{
	size_t length = name_length(note);
	const char *value = value_in(environment, note, length);

	return note[length] ? value && !strcmp(value, note + length + 1) : !value;
}

void wv_spy_resume(void)
{
	is_over = false;
}

void wv_spy_pause(void)
{
	is_over = true;
}

bool wv_spy_is_same(char *const *environment, const char **name)
{
	for (*name = notes; *name < notes + n_bytes; *name += strlen(*name) + 1)
		if (!is_as_noted(environment, *name))
			return false;
	/* Noted ones are the same; another one would have been read. */
	for (; *environment; environment++) {
		*name = *environment;
		if (is_always_read(*environment) && !is_noted(*name, name_length(*name)))
			return false;
	}
	return true;
}
