/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/check_verbs.h"

#include "abi/drivers.h"
#include "cli/doctor/small_file.h"

#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRIVERS "/etc/libibverbs.d"
#define SUFFIX	".driver"

void wv_check_verbs(struct wv_doctor *d)
{
	char file[PATH_MAX];
	const char *version;

	if (!d->verbs) {
		wv_found(d, WV_MARK_FAIL, "libibverbs.so.1 cannot be loaded");
		wv_remedy(d,
			  "%sapt install libibverbs1 ibverbs-providers, or dnf install libibverbs",
			  wv_as_root());
		return;
	}
	version = realpath(d->verbs, file) ? strstr(file, ".so.") : NULL;
	wv_found(d, WV_MARK_OK, "%s, version %s", d->verbs,
		 version ? version + strlen(".so.") : "not known");
}

/* Whether libibverbs has the provider @name, in the folder beside its own file. */
static bool is_installed(const struct wv_doctor *d, const char *name)
{
	const char *slash = strrchr(d->verbs, '/');
	char pattern[PATH_MAX];
	glob_t found;
	bool there;

	if (!slash || snprintf(pattern, sizeof(pattern), "%.*s/libibverbs/lib%s-rdmav*.so",
			       (int)(slash - d->verbs), d->verbs, name) >= (int)sizeof(pattern))
		return false;
	there = !glob(pattern, GLOB_NOSORT, NULL, &found);
	if (there)
		globfree(&found);
	return there;
}

/* A configuration of one provider: "driver NAME". */
static void check_file(struct wv_doctor *d, const char *file, unsigned int *n)
{
	char text[256], name[64];

	if (!wv_read_start(text, sizeof(text), "%s" DRIVERS "/%s", d->root, file) ||
	    sscanf(text, " driver %63[A-Za-z0-9_-]", name) != 1)
		return;
	(*n)++;
	if (is_installed(d, name))
		return;
	wv_found(d, WV_MARK_NOTE, DRIVERS "/%s names a provider that is not installed", file);
	wv_remedy(d, "%sapt install ibverbs-providers, or remove the file", wv_as_root());
}

static unsigned int check_files(struct wv_doctor *d)
{
	char path[PATH_MAX];
	struct dirent *entry;
	unsigned int n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s" DRIVERS, d->root);
	folder = opendir(path);
	if (!folder)
		return 0;
	for (unsigned int i = 0; i < WV_MAX_ENTRIES && (entry = readdir(folder)); i++) {
		const char *dot = strrchr(entry->d_name, '.');

		if (dot && !strcmp(dot, SUFFIX))
			check_file(d, entry->d_name, &n);
	}
	closedir(folder);
	return n;
}

void wv_check_providers(struct wv_doctor *d)
{
	unsigned int before = d->n_findings, n;

	if (!d->verbs)
		return;
	for (unsigned int i = 0; i < d->n_devices; i++) {
		const char *name = wv_seen_device_driver(d->status, &d->devices[i]);

		if (!name || is_installed(d, name))
			continue;
		wv_found(d, WV_MARK_FAIL, "%s: its provider lib%s-rdmavN.so is not installed",
			 d->devices[i].ibdev, name);
		wv_remedy(d, "%sapt install ibverbs-providers, or dnf install libibverbs",
			  wv_as_root());
	}
	n = check_files(d);
	if (d->n_findings == before)
		wv_found(d, WV_MARK_OK, "%u in " DRIVERS ", all installed", n);
}
