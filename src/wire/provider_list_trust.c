/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/provider_list_trust.h"

#include <sys/stat.h>
#include <unistd.h>

bool wv_provider_list_is_trusted(int fd, const char *folder)
{
	struct stat file, owner;

	if (fstat(fd, &file) || !S_ISREG(file.st_mode) || file.st_mode & (S_IWGRP | S_IWOTH))
		return false;
	return file.st_uid == 0 || file.st_uid == geteuid() ||
	       (!stat(folder, &owner) && file.st_uid == owner.st_uid);
}
