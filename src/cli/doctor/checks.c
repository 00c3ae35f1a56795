/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/checks.h"

#include "base/base.h"
#include "cli/doctor/check_daemon.h"
#include "cli/doctor/check_node.h"
#include "cli/doctor/check_peers.h"
#include "cli/doctor/check_process.h"
#include "cli/doctor/check_verbs.h"

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

void wv_run_checks(struct wv_doctor *d)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(checks); i++) {
		d->check = checks[i].name;
		checks[i].check(d);
	}
}
