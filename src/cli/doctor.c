/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor.h"

#include "base/base.h"
#include "cli/ask.h"
#include "cli/complain.h"
#include "cli/doctor/check_daemon.h"
#include "cli/doctor/check_node.h"
#include "cli/doctor/check_process.h"
#include "cli/doctor/check_verbs.h"
#include "cli/doctor/listener.h"
#include "cli/doctor/netns_mode.h"
#include "cli/doctor/surroundings.h"
#include "cli/fields.h"
#include "cli/library.h"
#include "store/json_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {WV_JSON_OPTION, WV_SOCKET_OPTION, {0}};

/* The path of the libibverbs that programs load; NULL: there is none. It stays loaded. */
static const char *find_verbs(void)
{
	void *verbs = dlopen("libibverbs.so.1", RTLD_LAZY);
	struct link_map *map;

	return verbs && !dlinfo(verbs, RTLD_DI_LINKMAP, &map) ? map->l_name : NULL;
}

/* The daemon's answer, which the caller frees. 0 or -errno. */
static int ask(const char *socket, const char *op, json_t **document)
{
	struct wv_answer answer;
	int err = wv_ask_quietly(socket, json_pack("{s:s}", "op", op), &answer);

	*document = err ? NULL : json_incref(answer.document);
	wv_answer_finish(&answer);
	return err;
}

/* What the daemon says, if it does. */
static void ask_daemon(struct wv_doctor *d)
{
	d->status_error =
	    wv_stopped_listener(d) ? -ETIMEDOUT : ask(d->socket, "status", &d->status);
	if (!d->status_error)
		ask(d->socket, "peers", &d->peers);
}

/* Everything that several checks need, or that no check is to do again. */
static void look(struct wv_doctor *d, const char *socket, char library[static PATH_MAX])
{
	d->root = "";
	d->sysfs = wv_seen_sysfs();
	d->verbs = find_verbs();
	d->socket = wv_ask_path(socket);
	d->library_error = wv_library_find(library);
	d->library = library;
	ask_daemon(d);
	d->netns_exclusive = wv_netns_is_exclusive();
	d->in_container = wv_is_contained(d->root);
	d->n_devices = wv_see_devices(d->sysfs, d->devices);
}

/* In the order in which a program depends on them. */
static const struct {
	const char *name;
	void (*check)(struct wv_doctor *d);
} checks[] = {
    {"kernel", wv_check_kernel},       {"device", wv_check_devices},
    {"port", wv_check_ports},	       {"libibverbs", wv_check_verbs},
    {"providers", wv_check_providers}, {"memlock", wv_check_memlock},
    {"library", wv_check_library},     {"environment", wv_check_environment},
    {"socket", wv_check_socket},       {"daemon", wv_check_answer},
    {"list", wv_check_provider_list},  {"leasing", wv_check_leasing},
    {"recipes", wv_check_recipes},     {"peers", wv_check_peers},
};

static void run_checks(struct wv_doctor *d)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(checks); i++) {
		d->check = checks[i].name;
		checks[i].check(d);
	}
}

static int main_of_doctor(const struct wv_arguments *a)
{
	static struct wv_doctor d;
	char library[PATH_MAX];
	int err = 0;

	look(&d, a->socket, library);
	run_checks(&d);
	wv_json_begin();
	if (a->json)
		err = wv_print_json(wv_doctor_json(&d), stdout);
	else
		wv_doctor_text(&d, stdout);
	json_decref(d.status);
	json_decref(d.peers);
	if (!err && fflush(stdout))
		err = -errno;
	if (err)
		wv_complain(NULL, "cannot print what was found: %s", strerror(-err));
	return err || wv_count_findings(&d, WV_MARK_FAIL) ? WV_EXIT_FAILED : 0;
}

const struct wv_subcommand wv_cli_doctor = {
    .name = "doctor",
    .summary = "find out what keeps programs from leases",
    .options = options,
    .help = "Look at devices, permissions, limits, the daemon and the environment, and print what "
	    "is well, what is not, and the command that mends it.\v"
	    "Exit status: 0 all is well, 1 something keeps programs from leases, 2 wrong usage.",
    .main = main_of_doctor,
};
