/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The calls by which a program changes its rights, so that no thread of this library keeps others:
 * none exists when the call is made. Those that are started later have the rights of the thread
 * that starts them. The same holds for limits of which a thread takes a part.
 *
 * A program that enters a sandbox (seccomp(2)) announces this by prctl(): one without privileges
 * needs PR_SET_NO_NEW_PRIVS, whatever call follows. A system call that the sandbox forbids may end
 * the program. So what is to be sent to the daemon is sent before, and there are no threads of this
 * library from then on.
 *
 * The functions of libc that change users tell all threads of the process, ours too. In children
 * that share memory with the process whose threads these are, nothing is done.
 *
 * The functions have libc's own names, so the headers must not rename them.
 */
#undef _FILE_OFFSET_BITS

#include "base/base.h"
#include "preload/core/process.h"
#include "preload/core/real.h"
#include "preload/core/worker.h"
#include "preload/lease/lease_end.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>

static void before_change(void)
{
	int saved = errno;

	if (wv_process_is_mine())
		wv_workers_end();
	errno = saved;
}

#define CHANGE_IF(it_matters, name, params, args)                                                  \
	WV_PUBLIC WV_UNSANITIZED int name params                                                   \
	{                                                                                          \
		if (it_matters)                                                                    \
			before_change();                                                           \
		return REAL(name) args;                                                            \
	}
#define CHANGE(name, params, args) CHANGE_IF(true, name, params, args)

CHANGE(setuid, (uid_t id), (id))
CHANGE(setgid, (gid_t id), (id))
CHANGE(seteuid, (uid_t effective), (effective))
CHANGE(setegid, (gid_t effective), (effective))
CHANGE(setreuid, (uid_t real, uid_t effective), (real, effective))
CHANGE(setregid, (gid_t real, gid_t effective), (real, effective))
CHANGE(setresuid, (uid_t real, uid_t effective, uid_t set), (real, effective, set))
CHANGE(setresgid, (gid_t real, gid_t effective, gid_t set), (real, effective, set))
CHANGE(setgroups, (size_t n, const gid_t *groups), (n, groups))
CHANGE(initgroups, (const char *user, gid_t group), (user, group))
CHANGE(capset, (cap_user_header_t header, cap_user_data_t data), (header, data))
CHANGE(setns, (int fd, int kind), (fd, kind))
CHANGE(unshare, (int what), (what))

/*
 * These are of the calling thread alone, and file servers call them for each request. -1 only asks.
 */
CHANGE_IF(id != (uid_t)-1 && !wv_program_has_threads(), setfsuid, (uid_t id), (id))
CHANGE_IF(id != (gid_t)-1 && !wv_program_has_threads(), setfsgid, (gid_t id), (id))

/* @limit is NULL where a limit is only asked for. AddressSanitizer asks before it is ready. */
WV_UNSANITIZED static bool is_reached_by_threads(pid_t pid, __rlimit_resource_t resource,
						 const void *limit)
{
	return limit && (resource == RLIMIT_AS || resource == RLIMIT_NPROC) &&
	       (!pid || pid == getpid());
}

#define CHANGE_LIMIT(pid, name, params, args)                                                      \
	CHANGE_IF(is_reached_by_threads(pid, resource, limit), name, params, args)

CHANGE_LIMIT(0, setrlimit, (__rlimit_resource_t resource, const struct rlimit *limit),
	     (resource, limit))
CHANGE_LIMIT(0, setrlimit64, (__rlimit_resource_t resource, const struct rlimit64 *limit),
	     (resource, limit))
CHANGE_LIMIT(pid, prlimit,
	     (pid_t pid, __rlimit_resource_t resource, const struct rlimit *limit,
	      struct rlimit *old),
	     (pid, resource, limit, old))
CHANGE_LIMIT(pid, prlimit64,
	     (pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *limit,
	      struct rlimit64 *old),
	     (pid, resource, limit, old))

static void before_sandbox(void)
{
	int saved = errno;

	if (wv_process_is_mine()) {
		wv_lease_settle_all();
		wv_workers_forbid();
		wv_workers_end();
	}
	errno = saved;
}

WV_PUBLIC int prctl(int option, ...)
{
	unsigned long args[4];
	va_list list;

	va_start(list, option);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(args); i++)
		args[i] = va_arg(list, unsigned long);
	va_end(list);
	switch (option) {
	case PR_SET_SECCOMP:
	case PR_SET_NO_NEW_PRIVS:
		before_sandbox();
		break;
	case PR_SET_KEEPCAPS: /* the change that follows may be a system call without libc */
	case PR_SET_SECUREBITS:
	case PR_CAPBSET_DROP:
	case PR_CAP_AMBIENT:
		before_change();
		break;
	default:
		break;
	}
	return REAL(prctl)(option, args[0], args[1], args[2], args[3]);
}
