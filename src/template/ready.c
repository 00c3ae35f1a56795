/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/ready.h"

#include "base/base.h"
#include "template/files.h"
#include "template/spy.h"

#include <dlfcn.h>
#include <errno.h>

#define NODES "/dev/infiniband"

static void (*share)(void), (*list_devices)(void), (*make_ready)(void), (*begin_anew)(char **argv);
static unsigned int (*own_fds)(int *fds, unsigned int most);

/* A device that comes or goes may be another one at the same name. */
static int watch_devices(void)
{
	int err = wv_file_watch(NODES);

	return err == -ENOENT ? 0 : err;
}

const char *wv_ready_begin(void)
{
	void (*get_ahead)(void) = dlsym(RTLD_DEFAULT, "warmverbs_get_ahead");
	int err;

	share = dlsym(RTLD_DEFAULT, "warmverbs_share");
	list_devices = dlsym(RTLD_DEFAULT, "warmverbs_list_devices");
	make_ready = dlsym(RTLD_DEFAULT, "warmverbs_make_ready");
	begin_anew = dlsym(RTLD_DEFAULT, "warmverbs_begin_anew");
	own_fds = dlsym(RTLD_DEFAULT, "warmverbs_own_fds");
	if (!get_ahead || !share || !list_devices || !make_ready || !begin_anew || !own_fds)
		return NULL;
	get_ahead();
	err = watch_devices();
	return err ? wv_files_error(err) : NULL;
}

void wv_ready_share(void)
{
	if (share)
		share();
}

/* A client's environment is to have the same values of what libraries read meanwhile. */
static void call_watched(void (*hook)(void))
{
	if (!hook)
		return;
	wv_spy_resume();
	hook();
	wv_spy_pause();
}

void wv_ready_list(void)
{
	call_watched(list_devices);
}

void wv_ready_make(void)
{
	call_watched(make_ready);
}

unsigned int wv_ready_fds(int *fds, unsigned int most)
{
	return own_fds ? own_fds(fds, most) : 0;
}

void wv_ready_use(char **argv)
{
	if (begin_anew)
		begin_anew(argv);
}
