/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/check_process.h"

#include "abi/drivers.h"
#include "cli/doctor/small_file.h"

#include <fnmatch.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

/* More than small programs register; MPI, NCCL and storage register more. */
#define MEMLOCK_ENOUGH (64ull << 20)
/* The inode of the initial user namespace: PROC_USER_INIT_INO in the kernel's proc_ns.h. */
#define INITIAL_USERS "user:[4026531837]"
#define MAX_SETS      64 /* of WARMVERBS_PREFORK; see warmverbs(7) */

/* What is wrong with a value, or NULL. */
typedef bool (*is_bad)(const char *value);

static bool is_there(const char *value)
{
	return value;
}

static bool is_on(const char *value)
{
	return *value && strcmp(value, "0") != 0;
}

static bool is_zero(const char *value)
{
	return !strcmp(value, "0");
}

static bool is_too_long_a_name(const char *value)
{
	return strlen(value) >= sizeof(((struct wv_msg_request *)0)->name);
}

static bool is_too_long_a_path(const char *value)
{
	return strlen(value) >= sizeof(((struct sockaddr_un *)0)->sun_path);
}

static bool is_no_number_of_sets(const char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	return *value < '0' || *value > '9' || *end || n > MAX_SETS;
}

static const struct {
	const char *pattern;
	is_bad bad;
	enum wv_mark mark;
	const char *effect;
} variables[] = {
    {"WARMVERBS_DISABLE", is_on, WV_MARK_FAIL, "the library does nothing"},
    {"WARMVERBS_LEASE", is_zero, WV_MARK_FAIL, "programs take no lease"},
    {"IBV_DRIVERS", is_there, WV_MARK_FAIL, "programs take no lease"},
    {"RDMAV_DRIVERS", is_there, WV_MARK_FAIL, "programs take no lease"},
    {"WARMVERBS_SOCKET", is_too_long_a_path, WV_MARK_FAIL,
     "it is too long for a socket, so programs ask no daemon"},
    {"WARMVERBS_NAME", is_too_long_a_name, WV_MARK_NOTE, "only its first 31 bytes count"},
    {"WARMVERBS_PREFORK", is_no_number_of_sets, WV_MARK_NOTE,
     "it should be a number from 0 to 64; what is no number counts as 0"},
    {"WARMVERBS_TRACE", is_on, WV_MARK_NOTE, "programs are slower: they write a trace"},
};

/* Whether a device of the node has the provider. */
static bool is_used(const struct wv_doctor *d, const char *provider)
{
	for (unsigned int i = 0; i < d->n_devices; i++) {
		const char *driver = wv_seen_device_driver(d->status, &d->devices[i]);

		if (driver && !strcmp(driver, provider))
			return true;
	}
	return false;
}

/* The preload asks for no lease if the variable decides where a provider has its queues. */
static void check_queue_variable(struct wv_doctor *d, const char *name, const char *value)
{
	const char *provider = wv_provider_of_variable(name);

	if (!provider || !is_used(d, provider))
		return;
	wv_found(d, WV_MARK_FAIL, "%s=%.64s: programs take no lease of %s devices", name, value,
		 provider);
	wv_remedy(d, "unset %s", name);
}

static void check_variable(struct wv_doctor *d, const char *name, const char *value)
{
	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		if (fnmatch(variables[i].pattern, name, FNM_EXTMATCH) || !variables[i].bad(value))
			continue;
		wv_found(d, variables[i].mark, "%s=%.64s: %s", name, value, variables[i].effect);
		wv_remedy(d, "unset %s", name);
	}
	check_queue_variable(d, name, value);
}

void wv_check_environment(struct wv_doctor *d)
{
	unsigned int before = d->n_findings;

	for (char **at = environ; *at; at++) {
		char name[64];
		size_t length = strcspn(*at, "=");

		if (length >= sizeof(name) || !(*at)[length])
			continue;
		memcpy(name, *at, length);
		name[length] = '\0';
		check_variable(d, name, *at + length + 1);
	}
	if (d->n_findings == before)
		wv_found(d, WV_MARK_OK, "no variable keeps programs from leases");
}

/* The element of LD_PRELOAD that is the library; false: there is none. */
static bool find_preloaded(char *path, size_t capacity)
{
	const char *list = getenv("LD_PRELOAD");

	for (size_t length; list && *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, " :");
		snprintf(path, capacity, "%.*s", (int)length, list);
		if (strstr(path, "libwarmverbs"))
			return true;
	}
	return false;
}

void wv_check_library(struct wv_doctor *d)
{
	char preloaded[PATH_MAX];

	if (find_preloaded(preloaded, sizeof(preloaded)) && *preloaded == '/' &&
	    access(preloaded, R_OK)) {
		wv_found(d, WV_MARK_FAIL, "LD_PRELOAD names %s, which cannot be read: %m",
			 preloaded);
		wv_remedy(d, "unset LD_PRELOAD, or set it to %s", d->library);
	} else if (d->library_error) {
		wv_found(d, WV_MARK_FAIL, "%s cannot be read: %s", d->library,
			 strerror(-d->library_error));
		wv_remedy(d, "install warmverbs here, or set WARMVERBS_LIBRARY to the library");
	} else if (find_preloaded(preloaded, sizeof(preloaded))) {
		wv_found(d, WV_MARK_OK, "%s, which LD_PRELOAD names", preloaded);
	} else {
		wv_found(d, WV_MARK_OK, "%s, for programs under 'warmverbs run'", d->library);
	}
}

/* The kernel asks whether the process has the capability in the initial user namespace. */
static bool may_lock_all(const char *root)
{
	char path[PATH_MAX], users[64];
	ssize_t got;

	snprintf(path, sizeof(path), "%s/proc/self/ns/user", root);
	got = readlink(path, users, sizeof(users) - 1);
	users[got > 0 ? got : 0] = '\0';
	return !strcmp(users, INITIAL_USERS) &&
	       wv_own_status(root, "CapEff", 16, 0) & (1ull << CAP_IPC_LOCK);
}

void wv_check_memlock(struct wv_doctor *d)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_MEMLOCK, &limit))
		return;
	if (may_lock_all(d->root)) {
		wv_found(d, WV_MARK_OK, "this user may register any amount of memory");
		return;
	}
	if (limit.rlim_cur == RLIM_INFINITY) {
		wv_found(d, WV_MARK_OK, "no limit on registered memory");
		return;
	}
	wv_found(d, limit.rlim_cur >= MEMLOCK_ENOUGH ? WV_MARK_OK : WV_MARK_NOTE,
		 "%llu KiB of memory may be locked, and so registered",
		 (unsigned long long)limit.rlim_cur >> 10);
	if (limit.rlim_cur >= MEMLOCK_ENOUGH)
		return;
	if (limit.rlim_max == RLIM_INFINITY)
		wv_remedy(d, "ulimit -l unlimited");
	else
		wv_remedy(d, "as root: echo '* - memlock unlimited' > "
			     "/etc/security/limits.d/rdma.conf, then log in again; for a service: "
			     "LimitMEMLOCK=infinity; for a container: --ulimit memlock=-1");
}
