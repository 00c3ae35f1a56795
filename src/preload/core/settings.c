/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/settings.h"

#include "base/base.h"
#include "preload/core/guard.h"
#include "wire/trace_record.h"
#include "wire/wire.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static struct wv_settings settings;
/* Copies: programs write titles over their environment (setproctitle(3)). */
static char socket_path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
static char name_of_use[sizeof(((struct wv_msg_request *)NULL)->name)];
static char trace_path[PATH_MAX] WV_COLD(2);
static char **argument_vector WV_START;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_set(const char *name)
{
	const char *value = secure_getenv(name);

	return value && *value && strcmp(value, "0");
}

/* A number that cannot be parsed counts as 0: there is no way to report it. */
static unsigned int sets_wanted(const char *text)
{
	char *end;
	unsigned long n;

	if (!text || *text < '0' || *text > '9')
		return 0;
	n = strtoul(text, &end, 10);
	if (*end)
		return 0;
	return n < UINT_MAX ? (unsigned int)n : UINT_MAX;
}

/* libibverbs reads them in every program. To this library they only say what not to do. */
static bool user_chose_providers(void)
{
	return getenv("IBV_DRIVERS") || getenv("RDMAV_DRIVERS");
}

/* Copies what fits of a text. */
static const char *copy_start(char *to, size_t capacity, const char *from)
{
	size_t bytes = strnlen(from, capacity - 1);

	return memcpy(to, from, bytes);
}

/* Copies a path, or nothing of one that is too long. */
static const char *copy_path(char *to, size_t capacity, const char *from)
{
	wv_copy_string(to, capacity, from);
	return to;
}

static void read_environment(void)
{
	const char *lease = secure_getenv("WARMVERBS_LEASE");
	const char *spares = secure_getenv("WARMVERBS_SPARES");
	const char *trace = secure_getenv(WV_TRACE_ENV);
	const char *socket = secure_getenv(WV_SOCKET_ENV);
	const char *name = secure_getenv("WARMVERBS_NAME");

	settings.enabled = !is_set("WARMVERBS_DISABLE");
	settings.lease = settings.enabled && !(lease && !strcmp(lease, "0"));
	settings.spares = settings.lease && !(spares && !strcmp(spares, "0"));
	settings.wants_spares = settings.spares && is_set("WARMVERBS_SPARES");
	settings.share_mr = settings.enabled && is_set("WARMVERBS_SHARE_MR");
	settings.any_vector = is_set("WARMVERBS_ANY_VECTOR");
	settings.providers = settings.enabled && !user_chose_providers();
	settings.socket = copy_path(socket_path, sizeof(socket_path),
				    socket && *socket ? socket : WV_SOCKET_DEFAULT);
	settings.name = copy_start(name_of_use, sizeof(name_of_use), name ? name : "");
	settings.prefork = settings.enabled ? sets_wanted(secure_getenv("WARMVERBS_PREFORK")) : 0;
	if (settings.enabled && trace && *trace)
		settings.trace = copy_path(trace_path, sizeof(trace_path), trace);
}

const struct wv_settings *wv_settings(void)
{
	static bool read;

	if (!__atomic_load_n(&read, __ATOMIC_ACQUIRE)) {
		wv_guard_begin();
		pthread_once(&once, read_environment);
		wv_guard_end();
		__atomic_store_n(&read, true, __ATOMIC_RELEASE);
	}
	return &settings;
}

/*
 * glibc passes the arguments of main() to every constructor; a library has no cheaper way to get
 * them.
 */
__attribute__((constructor)) static void remember_argv(int argc, char **argv)
{
	(void)argc;
	argument_vector = argv;
}

char **wv_argv(void)
{
	return argument_vector;
}

bool wv_settings_begin_anew(char **argv)
{
	char socket[sizeof(socket_path)], name[sizeof(name_of_use)];
	struct wv_settings before;

	memcpy(&before, &settings, sizeof(before));
	memcpy(socket, socket_path, sizeof(socket));
	memcpy(name, name_of_use, sizeof(name));
	memset(&settings, 0, sizeof(settings));
	memset(name_of_use, 0, sizeof(name_of_use)); /* of a name only what there is is copied */
	argument_vector = argv;
	read_environment();
	before.trace = settings.trace;
	return !memcmp(&before, &settings, sizeof(before)) && !strcmp(socket, socket_path) &&
	       !strcmp(name, name_of_use);
}
