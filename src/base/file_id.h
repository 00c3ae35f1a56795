/* SPDX-License-Identifier: BSD-2-Clause */
/* Which file it is, whatever its name. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct wv_file_id {
	uint64_t device, inode; /* 0, 0: none */
};

static inline struct wv_file_id wv_file_id(const struct stat *st)
{
	return (struct wv_file_id){st->st_dev, st->st_ino};
}

/* Of the file at @path, if there is one. */
static inline struct wv_file_id wv_file_id_at(const char *path)
{
	struct stat st;

	return stat(path, &st) ? (struct wv_file_id){0, 0} : wv_file_id(&st);
}

/* Of an open file, if it is one. */
static inline struct wv_file_id wv_file_id_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? (struct wv_file_id){0, 0} : wv_file_id(&st);
}

static inline bool wv_is_same_file(struct wv_file_id one, struct wv_file_id other)
{
	return one.device == other.device && one.inode == other.inode;
}
