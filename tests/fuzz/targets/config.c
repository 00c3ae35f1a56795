/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file. */
#include "fuzz.h"

#include "base/log.h"
#include "daemon/config/config.h"

#include <errno.h>

static void expect_within_limits(const struct wv_config *c)
{
	const char *const texts[] = {c->socket, c->state_dir, c->group, c->provider_dir};

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(texts); i++)
		assert_true(*texts[i] && strnlen(texts[i], WV_CONFIG_TEXT) < WV_CONFIG_TEXT);
	assert_true(c->log_level <= WV_DEBUG);
	assert_true(c->max_recipes_per_user > 0 && c->idle_time > 0);
	assert_true(c->max_leases <= INT32_MAX && c->max_memory <= INT32_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	wv_auto_fd file = fuzz_file(data, bytes);
	struct wv_config config;
	char path[32], why[512] = "";
	int err;

	wv_config_defaults(&config);
	err = wv_config_read_file(&config, fuzz_path(file, path), why, sizeof(why));
	expect_within_limits(&config);
	assert_true(!err || err == -EINVAL);
	if (err)
		assert_memory_equal(why, path, strlen(path));
	return 0;
}
