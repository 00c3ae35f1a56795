/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/server.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/config/memory_limit.h"
#include "daemon/devices/providers_file.h"
#include "daemon/ipc/pool_requests.h"
#include "daemon/loop/loop.h"
#include "daemon/pairs/making.h"
#include "daemon/pairs/pairs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#define MIB	    (UINT64_C(1) << 20)
#define MAX_CLIENTS 4096
#define MAX_DOORS   1024
/* Of RLIMIT_NOFILE: for a message with as many descriptors as there can be, files, libraries. */
#define SPARE_FDS (WV_MESSAGE_FDS + 64)
/* Of memory for the recipes of all, for each that there may be: most are smaller. */
#define RECIPE_BYTES (UINT64_C(16) << 10)
/* How long the end waits for the disk: less than systemd waits for the end. */
#define LAST_SAVES_US 10000000

/* Called by the catalog: the recipe's leases and file go with it. */
static void on_drop(void *data, struct wv_recipe *recipe)
{
	struct wv_server *s = data;

	wv_save_drop(&s->saver, recipe);
	wv_pairs_drop_recipe(s->service.pairs, recipe);
	wv_scheduler_drop_recipe(&s->scheduler, recipe);
}

/* Called by the catalog. */
static bool on_join(void *data, struct wv_user *user)
{
	struct wv_server *s = data;

	user->tenant = wv_tenant_get(&s->tenants, user->uid, 0);
	if (user->tenant)
		user->account = &user->tenant->recipes;
	return user->tenant;
}

/* Called by the catalog. */
static void on_leave(void *data, struct wv_user *user)
{
	struct wv_server *s = data;

	wv_doors_remove(&s->acceptor.doors, user);
	wv_tenant_put(user->tenant);
}

/* Called by the store. */
static void on_loaded(void *data, struct wv_recipe *recipe)
{
	struct wv_server *s = data;

	recipe = wv_catalog_add(&s->catalog, recipe);
	if (recipe && !recipe->pool)
		wv_scheduler_adopt(&s->scheduler, recipe);
}

/* Called by the watch. */
static void on_device_gone(void *data, const struct wv_device *device)
{
	struct wv_server *s = data;

	wv_pairs_drop_device(s->service.pairs, device->rdev);
	wv_scheduler_drop_device(&s->scheduler, device->ibdev);
	wv_constants_drop(&s->constants, device->rdev);
}

/* Called by the watch. */
static void on_rescanned(void *data)
{
	struct wv_server *s = data;

	wv_scheduler_retry(&s->scheduler);
}

/* Called where threads have results: there is room for more work. */
static void on_results(void *data)
{
	struct wv_server *s = data;

	wv_scheduler_go_on(&s->scheduler);
}

/* Called by the planner. */
static uint32_t on_requested(void *data, const struct wv_recipe *recipe)
{
	struct wv_server *s = data;

	uint32_t by_programs = wv_pool_requested(&s->service, recipe);
	uint32_t for_pairs = wv_pairs_requested(s->service.pairs, recipe);

	return for_pairs > by_programs ? for_pairs : by_programs;
}

struct wv_scan_options wv_server_scan_options(const struct wv_server *s)
{
	return (struct wv_scan_options){
	    .provider_dir = s->config.provider_dir,
	    .wanted = s->config.devices,
	    .trust_kernel = s->config.trust_kernel,
	};
}

static void compose_catalog(struct wv_server *s)
{
	const struct wv_catalog_owner owner = {
	    .arg = s,
	    .drop = on_drop,
	    .join = on_join,
	    .leave = on_leave,
	};
	const struct wv_catalog_limits limits = {
	    .recipes_of_one = s->config.max_recipes_per_user,
	    .recipes = s->config.max_recipes,
	    .bytes = s->config.max_recipes * RECIPE_BYTES,
	};

	wv_catalog_init(&s->catalog, &limits, &owner);
}

static void compose_watch(struct wv_server *s)
{
	s->watch = (struct wv_watch){
	    .event = s->event,
	    .devices = &s->devices,
	    .scan = s->scan ? s->scan : wv_devices_scan,
	    .options = wv_server_scan_options(s),
	    .run_dir = s->listener.run_dir,
	    .gone = on_device_gone,
	    .rescanned = on_rescanned,
	    .arg = s,
	};
}

static void compose_planner(struct wv_server *s)
{
	s->planner = (struct wv_planner){
	    .event = s->event,
	    .config = &s->config,
	    .catalog = &s->catalog,
	    .devices = &s->devices,
	    .tenants = &s->tenants,
	    .requested = on_requested,
	    .arg = s,
	};
}

static void compose_pools(struct wv_server *s)
{
	s->builders = (struct wv_builders){
	    .event = s->event,
	    .workers = s->workers,
	    .planner = &s->planner,
	    .constants = &s->constants,
	    .settled = on_results,
	    .arg = s,
	};
	s->saver = (struct wv_saver){
	    .event = s->event,
	    .workers = s->workers,
	    .catalog = &s->catalog,
	    .store = &s->store,
	    .done = on_results,
	    .arg = s,
	};
	s->scheduler = (struct wv_scheduler){
	    .event = s->event,
	    .planner = &s->planner,
	    .builders = &s->builders,
	    .saver = &s->saver,
	    .issue = s->issue ? s->issue : wv_issue,
	};
}

static void compose_service(struct wv_server *s)
{
	s->service = (struct wv_service){
	    .event = s->event,
	    .workers = s->workers,
	    .catalog = &s->catalog,
	    .devices = &s->devices,
	    .constants = &s->constants,
	    .planner = &s->planner,
	    .scheduler = &s->scheduler,
	    .builders = &s->builders,
	    .closer = &s->closer,
	    .handed_out = &s->handed_out,
	    .socket = s->listener.socket,
	    .start_us = wv_now(s->event),
	    .answer_flags = s->config.spares ? 0 : WV_ANSWER_NO_SPARES,
	};
	s->connections = (struct wv_connections){.service = &s->service};
	s->acceptor = (struct wv_acceptor){
	    .connections = &s->connections,
	    .tenants = &s->tenants,
	    .per_container = s->config.per_container,
	    .listen_fd = s->listen_fd,
	    .admin_fd = s->admin_fd,
	    .doors = {.event = s->event,
		      .socket = s->listener.socket,
		      .own = s->listener.for_users},
	    .spare_fd = -1,
	};
}

/*
 * Clients, one descriptor each, and processes and memory that are watched because of leases, share
 * them with pooled leases.
 */
static void set_limits(struct wv_server *s)
{
	const struct wv_config *c = &s->config;
	struct rlimit files = {.rlim_cur = 1024};
	uint32_t n_fds;

	getrlimit(RLIMIT_NOFILE, &files);
	n_fds = files.rlim_cur < (1u << 20) ? (uint32_t)files.rlim_cur : 1u << 20;
	n_fds = n_fds > 2 * SPARE_FDS ? n_fds - SPARE_FDS : n_fds / 2;
	s->acceptor.max_clients = n_fds / 2 < MAX_CLIENTS ? n_fds / 2 : MAX_CLIENTS;
	s->service.max_in_flight = n_fds / 2;
	s->closer.max_fds = n_fds / 4;
	s->handed_out.lender = (struct wv_lender){
	    .event = s->event,
	    .workers = s->workers,
	    .max_bytes = c->max_memory_out ? c->max_memory_out * MIB : wv_memory_limit() / 2,
	    .max_fds = n_fds / 4,
	};
	s->acceptor.doors.max_own = n_fds / 16 < MAX_DOORS ? n_fds / 16 : MAX_DOORS;
	n_fds -= s->acceptor.max_clients + s->handed_out.lender.max_fds + s->acceptor.doors.max_own;
	n_fds -= wv_pairing_limit(s->pairing, n_fds / 4);
	s->planner.limits = (struct wv_limits){
	    .leases_per_recipe = c->max_leases_per_recipe,
	    .user = {.leases = c->max_leases_per_user,
		     .fds = n_fds,
		     .bytes = c->max_memory_per_user * MIB},
	    .total = {.leases = c->max_leases, .fds = n_fds, .bytes = c->max_memory * MIB},
	};
}

static void name_kernel(struct wv_planner *p)
{
	struct utsname name;

	if (!uname(&name))
		snprintf(p->kernel, sizeof(p->kernel), "%s", name.release);
}

static int start_threads(struct wv_server *s)
{
	int err = wv_lender_start(&s->handed_out.lender);

	if (!err)
		err = wv_builders_start(&s->builders);
	if (!err)
		err = wv_saver_start(&s->saver);
	if (err >= 0)
		err = wv_closer_start(&s->closer, s->workers);
	if (err < 0)
		wv_log(WV_ERROR,
		       "%u threads cannot be started: %s: raise TasksMax= or the limit on "
		       "processes",
		       2 * WV_BUILDERS + 3, strerror(-err));
	return err;
}

static int start(struct wv_server *s)
{
	int err = start_threads(s);

	if (err >= 0)
		err = wv_scheduler_start(&s->scheduler);
	if (err >= 0)
		err = wv_watch_start(&s->watch);
	if (err < 0)
		return err;
	wv_store_load(&s->store, on_loaded, s);
	wv_scheduler_poke(&s->scheduler, NULL);
	err = wv_connections_start(&s->connections);
	if (err >= 0)
		err = wv_accept_start(&s->acceptor);
	return err < 0 ? err : wv_pairing_start(s->pairing);
}

int wv_server_init(struct wv_server *s, int listen_fd)
{
	int err = sd_event_default(&s->event);

	if (err >= 0)
		err = wv_workers_start(&s->workers, s->event);
	s->listen_fd = listen_fd;
	s->admin_fd = wv_steal_fd(&s->listener.admin_fd);
	wv_tenants_init(&s->tenants);
	compose_catalog(s);
	compose_watch(s);
	compose_planner(s);
	compose_pools(s);
	compose_service(s);
	if (err >= 0)
		err = wv_pairing_new(&s->config, &s->service, s->scheduler.issue, &s->pairing);
	set_limits(s);
	name_kernel(&s->planner);
	if (err >= 0)
		err = start(s);
	if (err < 0)
		wv_server_finish(s);
	return err < 0 ? err : 0;
}

static void end_leases(struct wv_server *s)
{
	wv_each_recipe_of_all (&s->catalog, recipe)
		wv_scheduler_drop_recipe(&s->scheduler, recipe);
}

static void stop_closer(struct wv_server *s)
{
	unsigned int left = wv_closer_stop(&s->closer);

	if (left)
		wv_log(
		    WV_WARNING,
		    "%u threads still close descriptors of clients: file systems in user space or "
		    "sockets hold them up",
		    left);
}

void wv_server_finish(struct wv_server *s)
{
	wv_accept_stop(&s->acceptor);
	wv_connections_stop(&s->connections);
	wv_pairing_free(s->pairing);
	s->pairing = NULL;
	wv_handed_out_finish(&s->handed_out);
	wv_lender_stop(&s->handed_out.lender);
	wv_watch_stop(&s->watch);
	wv_scheduler_stop(&s->scheduler);
	end_leases(s);
	wv_builders_stop(&s->builders);
	wv_saver_stop(&s->saver, LAST_SAVES_US);
	stop_closer(s);
	wv_workers_stop(s->workers);
	s->workers = NULL;
	wv_catalog_finish(&s->catalog);
	wv_tenants_finish(&s->tenants);
	wv_constants_drop_all(&s->constants);
	wv_close_fd(&s->listen_fd);
	wv_close_fd(&s->admin_fd);
	s->event = sd_event_unref(s->event);
}

void wv_server_unlisten(const struct wv_server *s)
{
	wv_unlisten(&s->listener);
	if (!s->listener.activated)
		wv_providers_remove(s->listener.run_dir);
}
