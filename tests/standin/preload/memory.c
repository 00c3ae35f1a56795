/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory.h"

#include "next.h"

#include <dirent.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define RECENT 64

/* Most programs have no shared mapping: they do not pay for reading the list of mappings. */
static atomic_bool any_shared;

/* Descriptors that were mapped last: processes may have thousands, and memory is mapped anew. */
static atomic_int recent[RECENT];
static atomic_uint n_mapped;

void standin_note_shared(int fd)
{
	any_shared = true;
	if (fd >= 0)
		recent[n_mapped++ % RECENT] = fd;
}

/* False if the line is not of a shared mapping around the address. */
static bool take_line(const char *line, struct standin_memory *memory)
{
	unsigned long long start, end, offset, inode;
	unsigned int major_number, minor_number;
	char mode[5];

	if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu", &start, &end, mode, &offset,
		   &major_number, &minor_number, &inode) != 7)
		return false;
	if (memory->va < start || memory->va >= end || mode[3] != 's' || !inode)
		return false;
	memory->device = makedev(major_number, minor_number);
	memory->inode = inode;
	memory->offset = offset + (memory->va - start);
	memory->bytes = end - memory->va;
	memory->start = start;
	return true;
}

/*
 * 1: found. 0: private, as all memory is taken to be after a chroot() that hides /proc. Or -errno:
 * without a free descriptor nobody can tell.
 */
static int find_mapping(struct standin_memory *memory)
{
	FILE *maps = NEXT(fopen)("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	if (!maps)
		return errno == ENOENT ? 0 : -errno;
	while (!found && fgets(line, sizeof(line), maps))
		found = take_line(line, memory);
	NEXT(fclose)(maps);
	return found;
}

static bool is_it(int fd, const struct standin_memory *memory)
{
	struct stat st;

	return NEXT(fstat)(fd, &st) == 0 && st.st_ino == memory->inode &&
	       st.st_dev == memory->device;
}

static int find_recent(const struct standin_memory *memory)
{
	unsigned int n = n_mapped;

	for (unsigned int i = 1; i <= RECENT; i++) {
		int fd = recent[(n - i) % RECENT];

		if (is_it(fd, memory))
			return fd;
	}
	return -ENOENT;
}

/* -ENOENT: the program has closed it. */
static int find_among_all(const struct standin_memory *memory)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -ENOENT;

	if (!dir)
		return -errno;
	while (found < 0 && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (entry->d_name[0] != '.' && is_it(fd, memory))
			found = fd;
	}
	closedir(dir);
	return found;
}

int standin_describe(struct standin_memory *memory, int *fds, unsigned int *n_fds)
{
	int fd, found;

	memory->fd = -1;
	if (!memory->va || !any_shared)
		return 0;
	found = find_mapping(memory);
	if (found <= 0)
		return found;
	fd = find_recent(memory);
	if (fd < 0)
		fd = find_among_all(memory);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	memory->fd = (int)*n_fds;
	fds[(*n_fds)++] = fd;
	return 0;
}
