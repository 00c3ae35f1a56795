/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warmverbsd: reads the settings, opens what needs privileges, drops the privileges, serves.
 */
#include "base/base.h"
#include "daemon/config/privileges.h"
#include "daemon/devices/providers_file.h"
#include "daemon/loop/log_line.h"
#include "daemon/loop/loop.h"
#include "daemon/server.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>

static struct wv_server server;

static int open_store(struct wv_server *s)
{
	int err = wv_store_open(&s->store, s->config.state_dir);

	if (err == -EBUSY) {
		wv_log(
		    WV_ERROR,
		    "%s: another warmverbsd uses it: stop that one, or choose another --state-dir",
		    s->config.state_dir);
		return err;
	}
	if (err)
		wv_log(WV_WARNING,
		       "%s: %s: recipes are not kept beyond this run: correct --state-dir or its "
		       "permissions",
		       s->config.state_dir, strerror(-err));
	return 0;
}

static int handle_signals(struct wv_server *s)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
	sigset_t blocked;
	int err = 0;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN); /* somebody opens what pool/memory_file.c looks at */
	sigemptyset(&blocked);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(ends); i++)
		sigaddset(&blocked, ends[i]);
	pthread_sigmask(SIG_BLOCK, &blocked, NULL);
	/* Without a handler sd-event ends the loop. */
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(ends) && err >= 0; i++)
		err = sd_event_add_signal(s->event, NULL, ends[i], NULL, NULL);
	return err < 0 ? err : 0;
}

static int run(struct wv_server *s)
{
	int err;

	sd_event_set_watchdog(s->event, true);
	sd_notifyf(0, "READY=1\nSTATUS=Devices: %u, listening on %s", s->devices.n,
		   s->listener.socket);
	wv_log(WV_NOTICE, "devices: %u, listening on %s", s->devices.n, s->listener.socket);
	err = wv_log_line_open(s->workers);
	if (err)
		return err;
	err = wv_loop_run(s->event);
	wv_log_line_close();
	sd_notify(0, "STOPPING=1");
	return err;
}

/* @listen_fd becomes the server's. */
static int serve(struct wv_server *s, int listen_fd)
{
	int err = wv_server_init(s, listen_fd);

	if (!err) {
		err = handle_signals(s);
		if (!err)
			err = run(s);
		wv_server_finish(s);
	}
	if (err)
		wv_log(WV_ERROR, "cannot go on: %s", strerror(-err));
	return err;
}

static int listen_and_serve(struct wv_server *s)
{
	int listen_fd = wv_listen(&s->listener, &s->config);
	int err;

	if (listen_fd < 0)
		return listen_fd;
	err = wv_privileges_drop(); /* before there are threads: each has capabilities of its own */
	if (!err)
		return serve(s, listen_fd);
	wv_log(WV_ERROR, "capabilities cannot be dropped: %s", strerror(-err));
	close(listen_fd);
	return err;
}

/*
 * Programs that find the socket look at the list of providers beside it, so the list is there
 * first. If it cannot be written, the watch of devices says so when it writes the list again. If it
 * is not known, there is none: an empty one would say that programs need no provider.
 */
static int announce_and_serve(struct wv_server *s)
{
	struct wv_scan_options options;
	int err = wv_listener_init(&s->listener, &s->config);

	if (err)
		return err;
	options = wv_server_scan_options(s);
	err = wv_devices_scan(&s->devices, &options);
	if (err)
		wv_log(WV_WARNING, "devices cannot be listed: %s", strerror(-err));
	else
		wv_providers_write(&s->devices, s->listener.run_dir);
	err = listen_and_serve(s);
	wv_server_unlisten(s);
	return err;
}

int main(int argc, char **argv)
{
	struct wv_server *s = &server;
	int err;

	wv_log_init(WV_NOTICE);
	wv_config_read(&s->config, argc, argv);
	wv_log_init(s->config.log_level);
	wv_raise_descriptor_limit();
	if (open_store(s))
		return EXIT_FAILURE;
	err = announce_and_serve(s);
	wv_store_close(&s->store);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
