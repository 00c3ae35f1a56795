/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Anybody can open the node with O_PATH, and fstat() does not tell such a descriptor from a real
 * one. Its flags do, and ioctl() refuses it.
 */
#include "kernel.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

int main(void)
{
	int real = open_node();
	int path = open(node_path(), O_PATH | O_CLOEXEC);
	struct stat real_stat, path_stat;

	EXPECT(path >= 0 && !fstat(real, &real_stat) && !fstat(path, &path_stat));
	EXPECT(S_ISCHR(path_stat.st_mode) && path_stat.st_rdev == real_stat.st_rdev);
	EXPECT(fcntl(path, F_GETFL) & O_PATH);
	EXPECT(!(fcntl(real, F_GETFL) & O_PATH) && (fcntl(real, F_GETFL) & O_ACCMODE) == O_RDWR);
	EXPECT(ioctl(path, RDMA_VERBS_IOCTL, NULL) < 0 && errno == EBADF);
	return 0;
}
