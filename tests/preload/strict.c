/* SPDX-License-Identifier: BSD-2-Clause */
/* In a program without RDMA, read() and write() are the only system calls: any other one kills. */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void)
{
	char byte = 'x';
	int ends[2];
	long failed;

	if (pipe(ends) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0))
		return 2;
	failed = write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1;
	return (int)syscall(SYS_exit, failed); /* _exit(2) ends all threads, by another call */
}
