/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/likeness.h"

#include "base/base.h"
#include "base/because.h"
#include "template/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/*
 * Of /proc/PID/status, lines that begin with a name ("Uid:") are equal. Both have the same ones in
 * the same order.
 */
static const char *const lines[] = {
    "Uid",
    "Gid",
    "Groups",
    "CapInh",
    "CapPrm",
    "CapEff",
    "CapBnd",
    "CapAmb",
    "NoNewPrivs",
    "Seccomp",
    "Seccomp_filters",
    "Speculation_Store_Bypass",
    "Cpus_allowed",
    "Mems_allowed",
    "SpeculationIndirectBranch",
    "TracerPid",
    "THP_enabled",
};

enum { LINK_BYTES = 64 };
enum { TTY_NR = 7 }; /* a field of /proc/PID/stat (proc_pid_stat(5)) */

/* Files that are equal; one that neither can read, too. */
static const struct {
	const char *name;
	bool others_change; /* those of a process that does nothing */
} texts[] = {
    {"cgroup", true},	 {"oom_score_adj", true}, {"../../coredump_filter", true},
    {"loginuid", false}, {"sessionid", false},	  {"attr/current", false},
};

/*
 * Links whose texts are equal; one that neither can read, too. Following them would take the kernel
 * twice as long.
 */
static const char *const links[] = {
    "ns/cgroup", "ns/ipc",
    "ns/mnt",	 "ns/net",
    "ns/pid",	 "ns/pid_for_children",
    "ns/time",	 "ns/time_for_children",
    "ns/user",	 "ns/uts",
};

/* A root directory may be another mount of the same one. */
struct place {
	uint64_t device, inode, mount;
};

static struct {
	int proc; /* a descriptor of its folder there, which no start has any more */
	char status[WV_STATUS_BYTES];
	char texts[WV_ARRAY_SIZE(texts)][WV_STAT_BYTES];
	char links[WV_ARRAY_SIZE(links)][LINK_BYTES];
	struct place root;
	char of_init[WV_STATUS_BYTES]; /* the status of the first process */
	cpu_set_t processors;
	bool has_terminal;
} own;

static void read_root(int proc, struct place *place)
{
	struct statx stx;

	*place = (struct place){.inode = 0};
	if (!statx(proc, "root", AT_STATX_SYNC_AS_STAT, STATX_INO | STATX_MNT_ID, &stx))
		*place = (struct place){(uint64_t)stx.stx_dev_major << 32 | stx.stx_dev_minor,
					stx.stx_ino, stx.stx_mnt_id};
}

/* "" if it cannot be read. */
static void read_link(int proc, const char *name, char *text)
{
	ssize_t n = readlinkat(proc, name, text, LINK_BYTES - 1);

	text[n < 0 ? 0 : n] = '\0';
}

static void read_status_of_init(void)
{
	wv_auto_fd init = open("/proc/1", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (init < 0 || !wv_proc_read(init, "status", own.of_init, sizeof(own.of_init)))
		own.of_init[0] = '\0';
}

static bool read_text(size_t i)
{
	return wv_proc_read(own.proc, texts[i].name, own.texts[i], WV_STAT_BYTES);
}

static void read_processors(cpu_set_t *processors)
{
	CPU_ZERO(processors);
	sched_getaffinity(0, sizeof(*processors), processors);
}

int wv_likeness_note(void)
{
	char stat[WV_STAT_BYTES];
	bool ok;

	own.proc = open("/proc/thread-self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (own.proc < 0)
		return -errno;
	ok = wv_proc_read(own.proc, "status", own.status, sizeof(own.status)) &&
	     wv_proc_read(own.proc, "stat", stat, sizeof(stat));
	for (size_t i = 0; i < WV_ARRAY_SIZE(texts) && ok; i++)
		ok = read_text(i);
	for (size_t i = 0; i < WV_ARRAY_SIZE(links) && ok; i++)
		read_link(own.proc, links[i], own.links[i]);
	read_root(own.proc, &own.root);
	read_processors(&own.processors);
	own.has_terminal = ok && wv_stat_field(stat, TTY_NR);
	read_status_of_init();
	return ok ? 0 : -E2BIG;
}

const char *wv_likeness_status(void)
{
	return own.status;
}

int wv_likeness_renew(void)
{
	cpu_set_t now;
	bool ok = true;

	for (size_t i = 0; i < WV_ARRAY_SIZE(texts) && ok; i++)
		ok = !texts[i].others_change || read_text(i);
	read_processors(&now);
	if (ok && !CPU_EQUAL(&now, &own.processors)) /* they are in the status */
		ok = wv_proc_read(own.proc, "status", own.status, sizeof(own.status));
	own.processors = now;
	return ok ? 0 : -E2BIG;
}

static int differs(struct wv_reason_text *a, const char *what)
{
	return wv_because(a, "%s differs", what);
}

static bool is_line_equal(const char *text, const char *other_text, const char *name)
{
	size_t n = 0, m = 0;
	const char *one = wv_status_line(text, name, &n);
	const char *other = wv_status_line(other_text, name, &m);

	return n == m && (!one || !memcmp(one, other, n));
}

static bool is_compared(const char *line)
{
	for (size_t i = 0; i < WV_ARRAY_SIZE(lines); i++) {
		size_t length = strlen(lines[i]);

		if (*line == *lines[i] && !strncmp(line, lines[i], length) && line[length] == ':')
			return true;
	}
	return false;
}

static int compare_lines(const struct wv_likeness_client *client, struct wv_reason_text *a)
{
	const char *one = own.status, *other = client->status;

	while (*one || *other) {
		size_t n = strcspn(one, "\n"), m = strcspn(other, "\n"), name = strcspn(one, ":");

		if (name >= n || strncmp(one, other, name + 1) != 0)
			return differs(a, "the status");
		if (is_compared(one) && (n != m || memcmp(one, other, n) != 0))
			return wv_because(a, "%.*s differs", (int)name, one);
		one += n + (one[n] == '\n');
		other += m + (other[m] == '\n');
	}
	return 0;
}

/*
 * As many filters may be others. Not if the first process of the container has as many: processes
 * only add to those that they inherit.
 */
static int compare_filters(const struct wv_likeness_client *client, struct wv_reason_text *a)
{
	if (strstr(client->status, "\nSeccomp:\t0\n") ||
	    is_line_equal(client->status, own.of_init, "Seccomp_filters"))
		return 0;
	return wv_because(a, "the client has system call filters of its own");
}

static int compare_priorities(const struct wv_likeness_client *client, struct wv_reason_text *a)
{
	struct sched_param one, other;

	if (syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, client->pid) !=
	    syscall(SYS_ioprio_get, IOPRIO_WHO_PROCESS, 0))
		return differs(a, "I/O priority");
	if (sched_getparam(client->pid, &one) || sched_getparam(0, &other) ||
	    one.sched_priority != other.sched_priority)
		return differs(a, "real-time priority");
	return own.has_terminal ? wv_because(a, "the template has a controlling terminal") : 0;
}

static int compare_texts(const struct wv_likeness_client *client, struct wv_reason_text *a)
{
	char text[WV_STAT_BYTES];

	for (size_t i = 0; i < WV_ARRAY_SIZE(texts); i++)
		if (!wv_proc_read(client->proc, texts[i].name, text, sizeof(text)) ||
		    strcmp(text, own.texts[i]) != 0)
			return differs(a, texts[i].name + strspn(texts[i].name, "./"));
	return 0;
}

static int compare_root(const struct wv_likeness_client *client, struct wv_reason_text *a)
{
	struct place root;

	read_root(client->proc, &root);
	return memcmp(&root, &own.root, sizeof(root)) ? differs(a, "root") : 0;
}

static int compare_links(const struct wv_likeness_client *client, struct wv_reason_text *a)
{
	char text[LINK_BYTES];

	for (size_t i = 0; i < WV_ARRAY_SIZE(links); i++) {
		read_link(client->proc, links[i], text);
		if (strcmp(text, own.links[i]) != 0)
			return differs(a, links[i]);
	}
	return 0;
}

int wv_likeness_check(const struct wv_likeness_client *client, struct wv_reason_text *why)
{
	int (*const comparisons[])(const struct wv_likeness_client *, struct wv_reason_text *) = {
	    compare_lines, compare_filters, compare_priorities,
	    compare_texts, compare_root,    compare_links};
	int found = 0;

	for (size_t i = 0; i < WV_ARRAY_SIZE(comparisons) && !found; i++)
		found = comparisons[i](client, why);
	return found;
}
