/* SPDX-License-Identifier: BSD-2-Clause */
#include "memory.h"

#include "next.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Most programs have no shared mapping: they do not pay for reading the list of mappings. */
static atomic_bool any_shared;

void standin_note_shared(void)
{
	any_shared = true;
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
	return true;
}

static bool find_mapping(struct standin_memory *memory)
{
	FILE *maps = NEXT(fopen)("/proc/self/maps", "re");
	char line[512];
	bool found = false;

	if (!maps)
		return false;
	while (!found && fgets(line, sizeof(line), maps))
		found = take_line(line, memory);
	fclose(maps);
	return found;
}

static int find_descriptor(const struct standin_memory *memory)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	if (!dir)
		return -1;
	while (found < 0 && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);
		struct stat st;

		if (entry->d_name[0] != '.' && NEXT(fstat)(fd, &st) == 0 &&
		    st.st_ino == memory->inode && st.st_dev == memory->device)
			found = fd;
	}
	closedir(dir);
	return found;
}

void standin_describe(struct standin_memory *memory, int *fds, unsigned int *n_fds)
{
	int fd;

	memory->fd = -1;
	if (!memory->va || !any_shared || !find_mapping(memory))
		return;
	fd = find_descriptor(memory);
	if (fd < 0)
		return;
	memory->fd = (int)*n_fds;
	fds[(*n_fds)++] = fd;
}
