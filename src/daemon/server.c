#include "daemon/server.h"

#include "base/base.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>

#define MIB (UINT64_C(1) << 20)

int64_t wv_now(struct wv_server *s)
{
	uint64_t now = 0;

	sd_event_now(s->event, CLOCK_MONOTONIC, &now);
	return (int64_t)now;
}

uint64_t wv_wall_clock(void)
{
	return (uint64_t)time(NULL);
}

/* The catalog's: the recipe's leases and file go with it. */
static void on_drop(void *data, struct wv_recipe *recipe)
{
	struct wv_server *s = data;
	int err = recipe->refused ? 0 : wv_store_remove(&s->store, recipe->uid, recipe->id);

	if (err)
		wv_log(WV_WARNING, "recipe %016llx of user %u cannot be removed from %s: %s",
		       (unsigned long long)recipe->id, recipe->uid, s->store.path, strerror(-err));
	wv_scheduler_drop_recipe(s, recipe);
}

/* The store's. */
static void on_loaded(void *data, struct wv_recipe *recipe)
{
	struct wv_server *s = data;

	recipe = wv_catalog_add(&s->catalog, recipe);
	if (recipe && !recipe->pool)
		wv_scheduler_adopt(s, recipe);
}

/* Descriptors are shared between clients, of which each has one, and leases. */
static void set_limits(struct wv_server *s)
{
	const struct wv_config *c = &s->config;
	struct rlimit files = {.rlim_cur = 1024};
	uint32_t n_fds;

	getrlimit(RLIMIT_NOFILE, &files);
	n_fds = files.rlim_cur < (1u << 20) ? (uint32_t)files.rlim_cur : 1u << 20;
	n_fds = n_fds > 2 * WV_SPARE_FDS ? n_fds - WV_SPARE_FDS : WV_SPARE_FDS;
	s->max_clients = n_fds / 2 < WV_MAX_CLIENTS ? n_fds / 2 : WV_MAX_CLIENTS;
	n_fds -= s->max_clients;
	s->limits = (struct wv_limits){
	    .leases_per_recipe = c->max_leases_per_recipe,
	    .user = {.leases = c->max_leases_per_user,
		     .fds = n_fds,
		     .bytes = c->max_memory_per_user * MIB},
	    .total = {.leases = c->max_leases, .fds = n_fds, .bytes = c->max_memory * MIB},
	};
}

static void name_kernel(struct wv_server *s)
{
	struct utsname name;

	if (!uname(&name))
		snprintf(s->kernel, sizeof(s->kernel), "%s", name.release);
}

static int start(struct wv_server *s)
{
	int err = wv_build_results_start(s);

	if (err >= 0)
		err = wv_scheduler_start(s);
	if (err >= 0)
		err = wv_watch_start(s);
	if (err < 0)
		return err;
	wv_store_load(&s->store, on_loaded, s);
	wv_scheduler_poke(s);
	return wv_accept_start(s);
}

int wv_server_init(struct wv_server *s, int listen_fd)
{
	int err = sd_event_default(&s->event);

	s->listen_fd = listen_fd;
	s->spare_fd = -1;
	s->start_us = err < 0 ? 0 : wv_now(s);
	LIST_INIT(&s->clients);
	LIST_INIT(&s->pool_requests);
	wv_catalog_init(&s->catalog, s->config.max_recipes_per_user, on_drop, s);
	set_limits(s);
	name_kernel(s);
	if (!s->issue)
		s->issue = wv_issue;
	if (err >= 0)
		err = start(s);
	if (err < 0)
		wv_server_finish(s);
	return err < 0 ? err : 0;
}

static void end_leases(struct wv_server *s)
{
	struct wv_user *user;
	struct wv_recipe *recipe;

	wv_each_user (s, user)
		wv_each_recipe (user, recipe)
			wv_scheduler_drop_recipe(s, recipe);
}

void wv_server_finish(struct wv_server *s)
{
	wv_accept_stop(s);
	wv_watch_stop(s);
	wv_scheduler_stop(s);
	wv_build_results_stop(s);
	end_leases(s);
	wv_reaper_stop(&s->ender);
	wv_save_all(s);
	wv_catalog_finish(&s->catalog);
	wv_constants_drop_all(&s->constants);
	wv_close_fd(&s->listen_fd);
	s->listen_fd = -1;
	s->event = sd_event_unref(s->event);
}
