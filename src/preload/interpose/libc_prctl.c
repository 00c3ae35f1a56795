/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * prctl(), for a program that is about to enter a sandbox (seccomp(2)). A system call that the
 * sandbox forbids may end the program. So what is to be sent to the daemon is sent before, and no
 * spare is made from then on. A program without privileges enters its sandbox through
 * PR_SET_NO_NEW_PRIVS, whatever call follows.
 */
#include "base/base.h"
#include "preload/core/real.h"
#include "preload/lease/lease_end.h"
#include "preload/spares/maker.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>

WV_PUBLIC int prctl(int option, ...)
{
	int saved = errno;
	unsigned long args[4];
	va_list list;

	va_start(list, option);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(args); i++)
		args[i] = va_arg(list, unsigned long);
	va_end(list);
	if (option == PR_SET_SECCOMP || option == PR_SET_NO_NEW_PRIVS) {
		wv_lease_settle_all();
		wv_maker_rest();
	}
	errno = saved;
	return REAL(prctl)(option, args[0], args[1], args[2], args[3]);
}
