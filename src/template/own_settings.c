/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/own_settings.h"

#include "base/base.h"
#include "base/file_id.h"
#include "template/signals.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct settings {
	uint64_t blocked; /* signals */
	mode_t umask;
	int nice;
	pid_t session, group;
	struct wv_file_id folder,
	    files[3]; /* the working directory; standard input, output, error */
	int flags[3], is_closed_on_exec[3];
	int end_signal, is_subreaper; /* PR_GET_PDEATHSIG, PR_GET_CHILD_SUBREAPER */
	struct rlimit limits[RLIM_NLIMITS];
};

static struct settings before;

static mode_t current_umask(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return mask;
}

static void read_settings(struct settings *s)
{
	memset(s, 0, sizeof(*s));
	s->blocked = wv_signals_blocked();
	s->umask = current_umask();
	s->nice = getpriority(PRIO_PROCESS, 0);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((enum __rlimit_resource)i, &s->limits[i]);
	s->session = getsid(0);
	s->group = getpgrp();
	s->folder = wv_file_id_at(".");
	for (int fd = 0; fd < (int)WV_ARRAY_SIZE(s->files); fd++) {
		s->files[fd] = wv_file_id_of(fd);
		s->flags[fd] = fcntl(fd, F_GETFL);
		s->is_closed_on_exec[fd] = fcntl(fd, F_GETFD);
	}
	prctl(PR_GET_PDEATHSIG, &s->end_signal);
	prctl(PR_GET_CHILD_SUBREAPER, &s->is_subreaper);
}

void wv_own_settings_remember(void)
{
	read_settings(&before);
}

const char *wv_own_settings_change(void)
{
	struct settings now;

	read_settings(&now);
	if (now.blocked != before.blocked)
		return "it blocks signals";
	if (now.umask != before.umask)
		return "it has set its umask";
	if (now.nice != before.nice)
		return "it has changed its niceness";
	if (!wv_is_same_file(now.folder, before.folder))
		return "it has changed its working directory";
	if (memcmp(now.files, before.files, sizeof(now.files)) != 0)
		return "it has closed or replaced standard input, output or error";
	if (memcmp(now.flags, before.flags, sizeof(now.flags)) != 0 ||
	    memcmp(now.is_closed_on_exec, before.is_closed_on_exec,
		   sizeof(now.is_closed_on_exec)) != 0)
		return "it has changed flags of standard input, output or error";
	if (now.end_signal != before.end_signal || now.is_subreaper != before.is_subreaper)
		return "it has asked for a signal at its parent's end, or for orphans";
	if (now.session != before.session || now.group != before.group)
		return "it has left its session or process group";
	if (lseek(STDIN_FILENO, 0, SEEK_CUR) > 0)
		return "it has read its standard input";
	return memcmp(now.limits, before.limits, sizeof(now.limits)) ? "it has set a limit" : NULL;
}
