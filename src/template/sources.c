/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/sources.h"
#include "warmverbs-template.h"

#include "base/base.h"
#include "template/files.h"
#include "template/places.h"
#include "template/stop.h"

#include <errno.h>
#include <limits.h>

static int expected_index = -1; /* none */
static char expected[PATH_MAX];

/* A folder may be another one later, or be made. */
static int depend(const char *path)
{
	int err = *path == '/' ? wv_file_watch(path) : -EINVAL;
	bool is_missing = err == -ENOENT || err == -ENOTDIR;

	if (is_missing || (!err && wv_is_folder(path)))
		return wv_place_note(path);
	return err;
}

WV_PUBLIC int wv_template_depend(const char *path)
{
	return wv_stop_place() == WV_STOP_NOWHERE ? 0 : -depend(path);
}

WV_PUBLIC int wv_template_expect(int index, const char *path)
{
	if (*path != '/')
		return EINVAL;
	if (access(path, F_OK))
		return errno;
	expected_index = index;
	return wv_copy_string(expected, sizeof(expected), path) ? 0 : ENAMETOOLONG;
}

/* As the interpreter makes it absolute, and shows it: "x/../y" stays. */
static bool is_expected(const char *name, int cwd)
{
	char link[32], folder[PATH_MAX] = "";
	ssize_t n = 0;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", cwd);
	if (*name != '/')
		n = readlink(link, folder, sizeof(folder));
	if (n < 0 || strncmp(expected, folder, (size_t)n) != 0)
		return false;
	return *name == '/' ? !strcmp(expected, name)
			    : expected[n] == '/' && !strcmp(expected + n + 1, name);
}

bool wv_sources_are_named(const struct wv_started *s)
{
	return expected_index < 0 ||
	       (expected_index < s->argc && is_expected(s->argv[expected_index], s->cwd));
}
