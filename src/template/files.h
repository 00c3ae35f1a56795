/* SPDX-License-Identifier: BSD-2-Clause */
/* The files that a template consists of. Once one changes, it is none any more. */
#pragma once

#include <stdbool.h>

/*
 * Has the file, or folder, at @path watched, which this process has read. Returns 0, or -errno:
 * ESTALE if the file may have changed since then, EREMOTE if other nodes may change it unseen.
 */
int wv_file_watch(const char *path);

bool wv_is_folder(const char *path);

/* All that are mapped, and those that the dynamic linker reads. The same. */
int wv_files_watch_mapped(void);

/* What such an error means. */
const char *wv_files_error(int err);
