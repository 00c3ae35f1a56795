/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The root folder of a container, before its first program runs. What is in it is the image's:
 * every path is resolved inside, and nothing of it is executed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Opens the folder @path. Returns a descriptor, which the caller closes, or -errno. */
int wv_root_open(const char *path);

/*
 * Whether the open file @library can be preloaded into the programs of @root, that is, fits each
 * libc.so.6 in its usual places. If not, @why, of @capacity bytes, says why.
 */
bool wv_root_takes_library(int root, int library, char *why, size_t capacity);

/*
 * A read-only mount of the file or folder @from, which is nowhere yet. Returns a descriptor, which
 * the caller closes, or -errno.
 */
int wv_root_mount_of(const char *from);

/*
 * Puts the mount @tree, of wv_root_mount_of(), at @folder/@name in @root, which becomes an empty
 * file or folder if it is not there. With @if_empty, a file that is there must be empty. Returns 0,
 * -EEXIST if it is not, -EXDEV or -ELOOP if @folder is on another file system, or another -errno.
 */
int wv_root_put(int root, int tree, const char *folder, const char *name, bool if_empty);
