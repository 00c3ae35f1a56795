/*
 * The calls behind those that are interposed: the next definition in the search order, so that
 * other preloads and libc keep their say. The preload itself calls these, never its own public
 * names. Bound at first use: a library that is preloaded into every process of a machine must not
 * look up anything at start.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

int real_open(const char *path, int flags, mode_t mode);
int real_openat(int dir, const char *path, int flags, mode_t mode);
int real_close(int fd);
int real_close_range(unsigned int first, unsigned int last, int flags);
void real_closefrom(int first);
int real_dup(int fd);
int real_dup2(int fd, int to);
int real_dup3(int fd, int to, int flags);
int real_fcntl(int fd, int cmd, long arg);
int real_ioctl(int fd, unsigned long request, void *arg);
ssize_t real_read(int fd, void *buffer, size_t bytes);
ssize_t real_write(int fd, const void *buffer, size_t bytes);
void *real_mmap(void *hint, size_t bytes, int protection, int flags, int fd, off64_t offset);
pid_t real_fork(void);
FILE *real_fopen(const char *path, const char *mode);

/* Of what sanitizers call before they are ready to be told of calls. */
#define WV_UNSANITIZED __attribute__((no_sanitize("thread")))

/*
 * Binds the calls that are made with a lock held: binding takes the loader's lock, which a plugin's
 * constructor may hold while it waits for ours.
 */
void real_bind(void);

/*
 * The next definition of @name at its symbol version, or that of @library where it was loaded with
 * RTLD_LOCAL; NULL if it is not loaded.
 */
void *real_symbol(const char *library, const char *name, const char *version);
/* The same for a verb of libibverbs, which is loaded if it is not. */
void *real_verb(const char *name, const char *version);
