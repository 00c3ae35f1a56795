/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The templates that a user's starts make by themselves: each has a name, made of the program and
 * of what the dynamic linker is told, in a folder of that user.
 */
#pragma once

#include <limits.h>
#include <sys/un.h>

/* The folder; by default warmverbs-templates in XDG_RUNTIME_DIR, or, for root, in /run. */
#define WV_TEMPLATES_ENV "WARMVERBS_TEMPLATES"

struct wv_named {
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
};

/*
 * Finds the socket for the program at @path. Returns 0, or -errno: -ENOENT if there is no folder
 * for them, -EPERM if that is not the user's alone, -EINVAL if its path is relative, -ENAMETOOLONG.
 */
int wv_named_find(const char *path, struct wv_named *named);

/*
 * Starts a supervisor that makes a template of the program at @path, and is no child of this
 * process. Returns 0 or -errno.
 */
int wv_named_start(const struct wv_named *named, const char *path);
