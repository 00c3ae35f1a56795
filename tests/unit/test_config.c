/* SPDX-License-Identifier: BSD-2-Clause */
/* The settings, and the file they come from. */
#include "fixture.h"

#include "base/base.h"
#include "base/log.h"
#include "daemon/config/config.h"
#include "daemon/config/memory_limit.h"
#include "wire/wire.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int set_up(void **state)
{
	struct wv_config *config = calloc(1, sizeof(*config));

	unsetenv("STATE_DIRECTORY");
	wv_config_defaults(config);
	*state = config;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void test_defaults(void **state)
{
	struct wv_config *config = *state;

	assert_string_equal(config->socket, WV_SOCKET_DEFAULT);
	assert_string_equal(config->state_dir, "/var/lib/warmverbs");
	assert_int_equal(config->log_level, WV_NOTICE);
	assert_int_equal(config->max_leases, 1024);
	assert_int_equal(config->refill_delay, 20);
	assert_string_equal(config->devices, "*");
	assert_false(config->trust_kernel);
	assert_true(config->spares);
}

static void test_peers(void **state)
{
	static const char *const wrong[] = {"", "a b:0", "10.0.0.256", "[fd00::1", "a:x"};
	struct wv_config *config = *state;

	assert_string_equal(config->peers, "");
	assert_false(config->any_peer);
	assert_int_equal(wv_config_set(config, "peers", "10.0.0.1, node7:99"), 0);
	assert_int_equal(wv_config_set(config, "peers", "any [fd00::1]:1"), 0);
	assert_string_equal(config->peers, "10.0.0.1,node7:99,[fd00::1]:1");
	assert_true(config->any_peer);
	assert_int_equal(wv_config_set(config, "peers", "none"), 0);
	assert_string_equal(config->peers, "");
	assert_false(config->any_peer);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(wrong); i++)
		assert_int_equal(wv_config_set(config, "peers", wrong[i]), -EINVAL);
}

static void test_list_of_peers_is_bounded(void **state)
{
	struct wv_config *config = *state;
	char name[32];
	int err = 0;

	for (unsigned int i = 0; !err && i < WV_CONFIG_LIST; i++) {
		snprintf(name, sizeof(name), "node%u", i);
		err = wv_config_set(config, "peers", name);
	}
	assert_int_equal(err, -EINVAL);
	assert_in_range(strlen(config->peers), WV_CONFIG_LIST - 16, WV_CONFIG_LIST - 1);
}

static void test_pairs(void **state)
{
	struct wv_config *config = *state;

	assert_false(config->pairs);
	assert_int_equal(wv_config_set(config, "pairs", "yes"), 0);
	assert_true(config->pairs && config->pairs_with_peers);
	assert_int_equal(wv_config_set(config, "pairs", "local"), 0);
	assert_true(config->pairs && !config->pairs_with_peers);
	assert_int_equal(wv_config_set(config, "pairs", "no"), 0);
	assert_false(config->pairs || config->pairs_with_peers);
	assert_int_equal(wv_config_set(config, "pairs", "peers"), -EINVAL);
}

/* Whoever has so many nodes names them. */
static void test_as_many_peers_as_may_be(void **state)
{
	struct wv_config *config = *state;
	char name[254];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 63; i < sizeof(name); i += 64)
		name[i] = '.';
	for (unsigned int i = 0; i < config->max_peers; i++)
		assert_int_equal(wv_config_set(config, "peers", name), 0);
}

static void test_addresses_for_peers(void **state)
{
	struct wv_config *config = *state;

	assert_int_equal(wv_config_set(config, "peer-listen", "10.0.0.1:99"), 0);
	assert_int_equal(wv_config_set(config, "peer-listen", "node7"), -EINVAL);
	assert_int_equal(wv_config_set(config, "peer-gids", "fe80::1=node7"), 0);
	assert_int_equal(wv_config_set(config, "peer-gids", "node7"), -EINVAL);
	assert_int_equal(wv_config_set(config, "max-peers", "0"), -EINVAL);
}

static void test_systemd_s_state_directory(void **state)
{
	struct wv_config *config = *state;

	setenv("STATE_DIRECTORY", "/var/lib/private/warmverbs", 1);
	wv_config_defaults(config);
	assert_string_equal(config->state_dir, "/var/lib/private/warmverbs");
}

static void test_numbers(void **state)
{
	static const char *const wrong[] = {"",
					    " ",
					    "-1",
					    "x",
					    "1x",
					    "1 ",
					    "0x10",
					    "4294967296",
					    "2147483648",
					    "1.5",
					    "99999999999999999999999"};
	struct wv_config *config = *state;

	assert_int_equal(wv_config_set(config, "max-leases", "0"), 0);
	assert_int_equal(config->max_leases, 0);
	assert_int_equal(wv_config_set(config, "max-leases", "2147483647"), 0);
	assert_int_equal(config->max_leases, INT32_MAX);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(wrong); i++)
		assert_int_equal(wv_config_set(config, "max-leases", wrong[i]), -EINVAL);
	assert_int_equal(config->max_leases, INT32_MAX);
	assert_int_equal(wv_config_set(config, "idle-time", "0"), -EINVAL);
}

static void test_levels_and_unknown_names(void **state)
{
	struct wv_config *config = *state;

	assert_int_equal(wv_config_set(config, "log-level", "debug"), 0);
	assert_int_equal(config->log_level, WV_DEBUG);
	assert_int_equal(wv_config_set(config, "log-level", "loud"), -EINVAL);
	assert_int_equal(wv_config_set(config, "max_leases", "1"), -ENOENT);
	assert_int_equal(wv_config_set(config, "", "1"), -ENOENT);
}

static void test_yes_and_no(void **state)
{
	static const char *const wrong[] = {"", "Yes", "true", "1", "yes ", "y"};
	struct wv_config *config = *state;

	assert_int_equal(wv_config_set(config, "trust-kernel", "yes"), 0);
	assert_true(config->trust_kernel);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(wrong); i++)
		assert_int_equal(wv_config_set(config, "trust-kernel", wrong[i]), -EINVAL);
	assert_true(config->trust_kernel);
	assert_int_equal(wv_config_set(config, "trust-kernel", "no"), 0);
	assert_false(config->trust_kernel);
}

/* Reads @text as a file; its complaint, without the file's name, is in @why. */
static int read_text(struct wv_config *config, const char *text, char why[static 512])
{
	char path[] = "/tmp/test_config.XXXXXX";
	int fd = mkstemp(path);
	int err;

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	*why = '\0';
	err = wv_config_read_file(config, path, why, 512);
	unlink(path);
	if (err) {
		assert_memory_equal(why, path, strlen(path));
		memmove(why, why + strlen(path), strlen(why + strlen(path)) + 1);
	}
	return err;
}

static void test_a_file(void **state)
{
	struct wv_config *config = *state;
	char why[512];

	assert_int_equal(read_text(config,
				   "# comment\n"
				   "max-leases = 7\n"
				   "\n"
				   "[warmverbsd]\n"
				   "socket = /run/other ; why not\n"
				   "log-level=info\n",
				   why),
			 0);
	assert_int_equal(config->max_leases, 7);
	assert_string_equal(config->socket, "/run/other");
	assert_int_equal(config->log_level, WV_INFO);
}

static void test_wrong_lines(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
	    {"max-leases = 7\nmax-leased = 8\n",
	     ":2: max-leased is not an option; warmverbsd --help lists them"},
	    {"\nmax-leases = many\n", ":2: max-leases cannot be 'many'"},
	    {"[daemon]\nmax-leases = 1\n",
	     ":2: section [daemon] is not known, only [warmverbsd] is"},
	    {"config = /etc/other\n", ":1: config can be set on the command line only"},
	    {"max-leases 7\n", ":1: not of the form 'option = value'"},
	    {"max-leases = 1\nx = 1\ny = 1\n",
	     ":2: x is not an option; warmverbsd --help lists them"},
	};
	struct wv_config *config = *state;
	char why[512];

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(wrong); i++) {
		assert_int_equal(read_text(config, wrong[i].text, why), -EINVAL);
		assert_string_equal(why, wrong[i].why);
	}
}

#define LONGEST	 198
#define TOO_LONG "longer than 198 bytes: a list may go on in a line that begins with a blank"

/* A line of @bytes bytes that ends with an address. */
static void write_long(char line[static 256], size_t bytes)
{
	static const char begin[] = "peers =", end[] = "10.0.0.123\n";

	memset(line, ' ', bytes);
	memcpy(line, begin, strlen(begin));
	strcpy(line + bytes - strlen(end) + 1, end);
}

/* inih would cut the line, and take 10.0.0.1 for the peer. */
static void test_long_lines(void **state)
{
	struct wv_config *config = *state;
	char line[256], why[512];

	write_long(line, LONGEST);
	assert_int_equal(read_text(config, line, why), 0);
	assert_string_equal(config->peers, "10.0.0.123");
	for (size_t bytes = LONGEST + 1; bytes < 220; bytes++) {
		config->peers[0] = '\0';
		write_long(line, bytes);
		assert_int_equal(read_text(config, line, why), -EINVAL);
		assert_string_equal(why, ":1: " TOO_LONG);
		assert_string_equal(config->peers, "");
	}
}

static void test_long_lines_after_others(void **state)
{
	char line[256], text[512], why[512];

	write_long(line, 250);
	snprintf(text, sizeof(text), "peers = node1,\n node2\n%s", line);
	assert_int_equal(read_text(*state, text, why), -EINVAL);
	assert_string_equal(why, ":3: " TOO_LONG);
	snprintf(text, sizeof(text), "max-leases = 1\npeers node1\n%s", line);
	assert_int_equal(read_text(*state, text, why), -EINVAL);
	assert_string_equal(why, ":2: not of the form 'option = value'");
}

/* As many peers as the manual's way lists them. */
static void test_lists_of_several_lines(void **state)
{
	struct wv_config *config = *state;
	char why[512];

	assert_int_equal(read_text(config,
				   "peers = 10.0.0.1, 10.0.0.2,\n"
				   "  10.0.0.3,\n"
				   "  # a comment\n"
				   "\t10.0.0.4\n"
				   "peers = node5\n",
				   why),
			 0);
	assert_string_equal(config->peers, "10.0.0.1,10.0.0.2,10.0.0.3,10.0.0.4,node5");
}

static void test_no_file(void **state)
{
	char why[512];

	assert_int_equal(wv_config_read_file(*state, "/no/such/file", why, sizeof(why)), -ENOENT);
}

/* Writes memory.max of the cgroup @path below @root. */
static void write_limit(const char *root, const char *path, const char *text)
{
	char name[128];
	FILE *file;

	snprintf(name, sizeof(name), "%s%s", root, path);
	assert_true(!mkdir(name, 0700) || errno == EEXIST);
	strcat(name, "/memory.max");
	file = fopen(name, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void test_the_least_limit_of_the_cgroups_counts(void **state)
{
	char root[] = "/tmp/test_config.XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(root));
	assert_int_equal(wv_cgroup_memory_limit(root, "/slice/service"), UINT64_MAX);
	write_limit(root, "/slice", "max\n");
	write_limit(root, "/slice/service", "8589934592\n");
	assert_int_equal(wv_cgroup_memory_limit(root, "/slice/service"), 8589934592);
	assert_int_equal(wv_cgroup_memory_limit(root, "/slice/service/deeper"), 8589934592);
	assert_int_equal(wv_cgroup_memory_limit(root, "/slice/other"), UINT64_MAX);
	write_limit(root, "/slice", "4096\n");
	assert_int_equal(wv_cgroup_memory_limit(root, "/slice/service"), 4096);
	assert_true(wv_memory_limit() <= (uint64_t)sysconf(_SC_PHYS_PAGES) * wv_page_size());
	remove_tree(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_defaults, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_peers, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_list_of_peers_is_bounded, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_pairs, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_as_many_peers_as_may_be, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_addresses_for_peers, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_systemd_s_state_directory, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_numbers, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_levels_and_unknown_names, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_yes_and_no, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_a_file, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_wrong_lines, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_long_lines, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_long_lines_after_others, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_lists_of_several_lines, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_no_file, set_up, tear_down),
	    cmocka_unit_test(test_the_least_limit_of_the_cgroups_counts),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
