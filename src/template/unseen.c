/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/unseen.h"

#include "base/base.h"

#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#ifndef PR_GET_MDWE
#define PR_GET_MDWE 66 /* Linux 6.3 */
#endif
#ifndef PR_GET_MEMORY_MERGE
#define PR_GET_MEMORY_MERGE 68 /* Linux 6.4 */
#endif
#ifndef PR_GET_IO_FLUSHER
#define PR_GET_IO_FLUSHER 58 /* Linux 5.6 */
#endif

/* keyctl(2), of whose headers musl has none */
#define KEYCTL_GET_KEYRING_ID	 0
#define KEY_SPEC_SESSION_KEYRING (-3)

#define MOST_NODES 1024 /* a power of two, at least as many as the kernel is built for */

static int64_t timer_slack(void)
{
	return prctl(PR_GET_TIMERSLACK);
}

static int64_t securebits(void)
{
	return prctl(PR_GET_SECUREBITS);
}

static int64_t write_xor_execute(void)
{
	return prctl(PR_GET_MDWE, 0, 0, 0, 0);
}

static int64_t is_subreaper(void)
{
	int is = -1;

	prctl(PR_GET_CHILD_SUBREAPER, &is);
	return is;
}

static int64_t execution_domain(void)
{
	return personality(0xffffffff);
}

/* sched_setattr(2), as far as it goes in Linux 5.3; glibc declares it since 2.41. */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice; /* a start has the client's */
	uint32_t priority;
	uint64_t runtime, deadline, period;
	uint32_t least_use, most_use;
};

static int64_t scheduling(void)
{
	struct scheduling s = {.size = 0};

	syscall(SYS_sched_getattr, 0, &s, sizeof(s), 0);
	s.nice = 0;
	return (int64_t)wv_hash(WV_HASH_START, &s, sizeof(s));
}

static int64_t end_signal(void)
{
	int is = 0;

	prctl(PR_GET_PDEATHSIG, &is);
	return is;
}

static int64_t time_stamp_counter(void)
{
	int can_be_read = 0;

	prctl(PR_GET_TSC, &can_be_read); /* fails where it always can */
	return can_be_read;
}

static int64_t memory_errors(void)
{
	return prctl(PR_MCE_KILL_GET, 0, 0, 0, 0);
}

static int64_t merged_memory(void)
{
	return prctl(PR_GET_MEMORY_MERGE, 0, 0, 0, 0);
}

static int64_t huge_pages(void)
{
	return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
}

static int64_t io_flusher(void)
{
	return prctl(PR_GET_IO_FLUSHER, 0, 0, 0, 0);
}

static int64_t session_keyring(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
}

static int64_t memory_policy(void)
{
	unsigned long nodes[MOST_NODES / 8 / sizeof(long)] = {0};
	int mode = -1;

	syscall(SYS_get_mempolicy, &mode, nodes, MOST_NODES, NULL, 0);
	return (int64_t)wv_hash((uint64_t)mode, nodes, sizeof(nodes));
}

static const struct {
	const char *name;
	int64_t (*read)(void);
} all[WV_UNSEEN] = {
    [WV_UNSEEN_END_SIGNAL] = {"the signal at the parent's end", end_signal},
    {"timer slack", timer_slack},
    {"securebits", securebits},
    {"memory-deny-write-execute", write_xor_execute},
    {"child subreaper", is_subreaper},
    {"personality", execution_domain},
    {"scheduling", scheduling},
    {"time stamp counter", time_stamp_counter},
    {"memory error policy", memory_errors},
    {"memory merging", merged_memory},
    {"huge pages", huge_pages},
    {"I/O flusher", io_flusher},
    {"session keyring", session_keyring},
    {"memory policy", memory_policy},
};

void wv_unseen_read(int64_t values[static WV_UNSEEN])
{
	for (unsigned int i = 0; i < WV_UNSEEN; i++)
		values[i] = all[i].read();
}

const char *wv_unseen_difference(const int64_t *values, const int64_t *others)
{
	for (unsigned int i = 0; i < WV_UNSEEN; i++)
		if (values[i] != others[i])
			return all[i].name;
	return NULL;
}
