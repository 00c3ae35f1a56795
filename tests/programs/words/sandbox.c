/* SPDX-License-Identifier: BSD-2-Clause */
/* Words by which a process gives up rights. */
#include "words.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

int do_chroot(struct program *p, struct options o)
{
	(void)p;
	return chroot(o.text) || chdir("/") ? errno : 0;
}

/* "files": only as whom it opens files. */
int do_setuid(struct program *p, struct options o)
{
	uid_t id = (uid_t)option(o, "id", 65534);

	(void)p;
	if (has(o, "files"))
		return setfsgid(id) < 0 || setfsuid(id) < 0 ? errno : 0;
	return setgroups(0, NULL) || setresgid(id, id, id) || setresuid(id, id, id) ? errno : 0;
}

#define LOAD(field)	      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_UNLESS(value, n) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, n)
#define RETURN(what)	      BPF_STMT(BPF_RET | BPF_K, what)

/*
 * "socket": refuses non-blocking SEQPACKET sockets, which only the preload makes here: the stand-in
 * has blocking ones.
 */
int do_seccomp(struct program *p, struct options o)
{
	uint32_t action = has(o, "kill") ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM;
	struct sock_filter filter[] = {
	    LOAD(nr),	    SKIP_UNLESS(SYS_socket, 3),
	    LOAD(args[1]),  SKIP_UNLESS(SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 1),
	    RETURN(action), RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	(void)p;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? errno : 0;
}

/* All threads of the process are killed where they sleep, or start a thread. */
int do_seal(struct program *p, struct options o)
{
	struct sock_filter filter[] = {
	    LOAD(nr),
	    SKIP_UNLESS(SYS_clock_nanosleep, 1),
	    RETURN(SECCOMP_RET_KILL_PROCESS),
	    SKIP_UNLESS(SYS_clone3, 1),
	    RETURN(SECCOMP_RET_KILL_PROCESS),
	    RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	(void)p;
	(void)o;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program)
		   ? errno
		   : 0;
}

/* Only libcap declares it. */
int capset(cap_user_header_t header, const cap_user_data_t data);

int do_capset(struct program *p, struct options o)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};

	(void)p;
	(void)o;
	return capset(&header, none) ? errno : 0;
}

/* Into a user namespace of its own, which only a process with one thread may do. */
int do_unshare(struct program *p, struct options o)
{
	(void)p;
	(void)o;
	return unshare(CLONE_NEWUSER) ? errno : 0;
}
