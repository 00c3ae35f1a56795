/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checks of `warmverbs doctor`, on a node that is made up: sysfs, /proc and /etc in a folder of
 * our own, and answers of the daemon that are written here.
 */
#include "capture.h"
#include "cli/doctor/check_daemon.h"
#include "cli/doctor/check_node.h"
#include "cli/doctor/check_process.h"
#include "cli/doctor/check_verbs.h"
#include "cli/doctor/findings.h"
#include "cli/doctor/seen_devices.h"
#include "cli/doctor/small_file.h"
#include "cli/doctor/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>
#include <sys/stat.h>

struct bench {
	struct wv_doctor d;
	char root[64], sysfs[80], verbs[80], socket[80];
};

/* A path below the root, whose folders exist afterwards. */
static const char *make_path(const struct bench *b, const char *format, va_list args)
{
	static char path[512];
	int length = snprintf(path, sizeof(path), "%s/", b->root);

	vsnprintf(path + length, sizeof(path) - (size_t)length, format, args);
	for (char *slash = path + length; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	return path;
}

static void put(const struct bench *b, const char *text, const char *format, ...)
{
	va_list args;
	FILE *out;

	va_start(args, format);
	out = fopen(make_path(b, format, args), "we");
	va_end(args);
	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

/* A device with a port that is up and has a GID; its driver is what the parent's driver says. */
static void put_device(const struct bench *b, const char *node, const char *ibdev)
{
	char driver[256];

	put(b, ibdev, "sys/class/infiniband_verbs/%s/ibdev", node);
	put(b, "231:192\n", "sys/class/infiniband_verbs/%s/dev", node);
	put(b, "", "sys/class/infiniband_verbs/%s/device/x", node);
	snprintf(driver, sizeof(driver), "%s/sys/class/infiniband_verbs/%s/device/driver", b->root,
		 node);
	assert_int_equal(symlink("../../../../bus/pci/drivers/mlx5_core", driver), 0);
	put(b, "4: ACTIVE\n", "sys/class/infiniband/%s/ports/1/state", ibdev);
	put(b, "Ethernet\n", "sys/class/infiniband/%s/ports/1/link_layer", ibdev);
	put(b, "0000:0000:0000:0000:0000:0000:0000:0000\n",
	    "sys/class/infiniband/%s/ports/1/gids/0", ibdev);
	put(b, "fe80:0000:0000:0000:0200:00ff:fe00:0001\n",
	    "sys/class/infiniband/%s/ports/1/gids/1", ibdev);
}

static int set_up(void **state)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	strcpy(b->root, "/tmp/test_doctor.XXXXXX");
	assert_non_null(mkdtemp(b->root));
	snprintf(b->sysfs, sizeof(b->sysfs), "%s/sys", b->root);
	snprintf(b->verbs, sizeof(b->verbs), "%s/lib/libibverbs.so.1", b->root);
	snprintf(b->socket, sizeof(b->socket), "%s/run/socket", b->root);
	b->d.root = b->root;
	b->d.sysfs = b->sysfs;
	b->d.verbs = b->verbs;
	b->d.socket = b->socket;
	b->d.library = "/lib/libwarmverbs.so.0";
	b->d.status_error = -ENOENT;
	b->d.check = "test";
	put(b, "", "lib/libibverbs.so.1");
	put(b, "", "lib/libibverbs/libmlx5-rdmav34.so");
	put(b, "driver mlx5\n", "etc/libibverbs.d/mlx5.driver");
	*state = b;
	return 0;
}

static int tear_down(void **state)
{
	struct bench *b = *state;
	char command[128];

	json_decref(b->d.status);
	snprintf(command, sizeof(command), "rm -r %s", b->root);
	free(b);
	return system(command);
}

/* The daemon's answer. */
static void answer(struct bench *b, const char *text)
{
	json_decref(b->d.status);
	b->d.status = json_loads(text, 0, NULL);
	assert_non_null(b->d.status);
	b->d.status_error = 0;
}

/* The findings of one check, from now on. */
static void check(struct bench *b, void (*what)(struct wv_doctor *d))
{
	b->d.n_findings = 0;
	b->d.n_devices = 0;
	b->d.n_devices = wv_see_devices(b->d.sysfs, b->d.devices);
	what(&b->d);
}

/* There is a finding with that mark, and these words in its text and in its remedy. */
static void expect(const struct bench *b, enum wv_mark mark, const char *found, const char *remedy)
{
	for (unsigned int i = 0; i < b->d.n_findings; i++) {
		const struct wv_finding *f = &b->d.findings[i];

		if (f->mark == mark && strstr(f->found, found) && strstr(f->remedy, remedy))
			return;
	}
	wv_doctor_text(&b->d, stderr);
	fail_msg("no finding '%s' > '%s'", found, remedy);
}

static void test_no_device(void **state)
{
	struct bench *b = *state;

	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "there is no RDMA device", "type rxe netdev NETDEV");
	put(b, "up\n", "sys/class/net/eth7/operstate");
	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "there is no RDMA device", "type rxe netdev eth7");
	put(b, "0x15b3\n", "sys/bus/pci/devices/0000:01:00.0/vendor");
	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "there is no RDMA device", "modprobe -a mlx5_ib ib_uverbs");
	b->d.netns_exclusive = true;
	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "in this network namespace", "rdma dev set");
}

/* A name goes into a command only if a shell takes it as it is. */
static void test_netdev_of_strange_name(void **state)
{
	struct bench *b = *state;

	put(b, "up\n", "sys/class/net/$(reboot)/operstate");
	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "there is no RDMA device", "netdev NETDEV");
}

static void test_no_node(void **state)
{
	struct bench *b = *state;

	put_device(b, "uverbs4711", "mlx5_7");
	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "mlx5_7: there is no /dev/infiniband/uverbs4711", "modprobe");
	b->d.in_container = true;
	check(b, wv_check_devices);
	expect(b, WV_MARK_FAIL, "mlx5_7: there is no", "--device warmverbs/rdma=all");
}

static void test_ports(void **state)
{
	struct bench *b = *state;

	put_device(b, "uverbs0", "mlx5_0");
	check(b, wv_check_ports);
	assert_int_equal(b->d.n_findings, 1);
	expect(b, WV_MARK_OK, "1 active", "");
	put(b, "1: DOWN\n", "sys/class/infiniband/mlx5_0/ports/1/state");
	check(b, wv_check_ports);
	expect(b, WV_MARK_NOTE, "port 1 is 1: DOWN", "ip link set");
	put(b, "InfiniBand\n", "sys/class/infiniband/mlx5_0/ports/1/link_layer");
	check(b, wv_check_ports);
	expect(b, WV_MARK_NOTE, "port 1 is 1: DOWN", "subnet manager");
	put(b, "4: ACTIVE\n", "sys/class/infiniband/mlx5_0/ports/1/state");
	put(b, "0000:0000:0000:0000:0000:0000:0000:0000\n",
	    "sys/class/infiniband/mlx5_0/ports/1/gids/1");
	check(b, wv_check_ports);
	expect(b, WV_MARK_NOTE, "has no address", "ip addr add");
}

/* Whatever sysfs holds: nothing waits, nothing leaves a folder, and a terminal gets plain text. */
static void test_strange_sysfs(void **state)
{
	struct bench *b = *state;
	char path[256], huge[100000];

	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	put_device(b, "uverbs1", "mlx\033[31m\377");
	put_device(b, "uverbs2", "ok");
	put(b, huge, "sys/class/infiniband_verbs/uverbs2/ibdev");
	put_device(b, "uverbs3", "climber");
	put(b, "../../etc", "sys/class/infiniband_verbs/uverbs3/ibdev");
	put_device(b, "uverbs4", "numbers");
	put(b, "-1:x", "sys/class/infiniband_verbs/uverbs4/dev");
	put_device(b, "uverbs5", "pipe");
	snprintf(path, sizeof(path), "%s/sys/class/infiniband_verbs/uverbs5/ibdev", b->root);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	put(b, "", "sys/class/infiniband_verbs/uverbs6/ibdev/folder");
	put(b, "", "sys/class/infiniband_verbs/uverbs%0100d/ibdev", 7);
	put(b, huge, "etc/libibverbs.d/huge.driver");
	put(b, "driver ../../x", "etc/libibverbs.d/path.driver");

	check(b, wv_check_devices);
	assert_int_equal(b->d.n_devices, 2);
	expect(b, WV_MARK_FAIL, "mlx?[31m?: there is no", "");
	expect(b, WV_MARK_FAIL, "xxx", "");
	check(b, wv_check_ports);
	check(b, wv_check_providers);
	assert_int_equal(wv_count_findings(&b->d, WV_MARK_FAIL), 0);
}

/* What does not fit is left out. */
static void test_many_devices(void **state)
{
	struct bench *b = *state;
	char name[32];

	for (unsigned int i = 0; i < WV_MAX_DEVICES + 10; i++) {
		snprintf(name, sizeof(name), "uverbs%u", 5000 + i);
		put(b, name, "sys/class/infiniband_verbs/%s/ibdev", name);
		put(b, "231:192\n", "sys/class/infiniband_verbs/%s/dev", name);
	}
	check(b, wv_check_devices);
	assert_int_equal(b->d.n_findings, WV_MAX_DEVICES);
	for (unsigned int i = 0; i < 4; i++)
		wv_check_devices(&b->d);
	assert_int_equal(b->d.n_findings, WV_MAX_FINDINGS);
	wv_found(&b->d, WV_MARK_OK, "lost");
	wv_remedy(&b->d, "of what is lost");
	assert_null(strstr(b->d.findings[WV_MAX_FINDINGS - 1].remedy, "lost"));
}

static void test_providers(void **state)
{
	struct bench *b = *state;
	char path[256];

	put_device(b, "uverbs0", "mlx5_0");
	check(b, wv_check_providers);
	assert_int_equal(b->d.n_findings, 1);
	expect(b, WV_MARK_OK, "1 in /etc/libibverbs.d, all installed", "");
	put(b, "driver other\n", "etc/libibverbs.d/other.driver");
	check(b, wv_check_providers);
	expect(b, WV_MARK_NOTE, "other.driver names a provider that is not installed", "apt");
	snprintf(path, sizeof(path), "%s/lib/libibverbs/libmlx5-rdmav34.so", b->root);
	assert_int_equal(unlink(path), 0);
	check(b, wv_check_providers);
	expect(b, WV_MARK_FAIL, "mlx5_0: its provider libmlx5-rdmavN.so is not installed", "apt");
	b->d.verbs = NULL;
	check(b, wv_check_verbs);
	expect(b, WV_MARK_FAIL, "libibverbs.so.1 cannot be loaded", "libibverbs1");
	check(b, wv_check_providers);
	assert_int_equal(b->d.n_findings, 0);
}

#define DEVICE(name, more) "{\"name\": \"" name "\", \"driver\": \"mlx5\", " more "}"
#define PROVIDER	   "\"leased\": true, \"provider\": \"/lib/x.so\""
#define NOT_LEASED	   "\"leased\": false, \"unleased_because\": \"it is old\""

static void test_leasing(void **state)
{
	struct bench *b = *state;

	put_device(b, "uverbs0", "mlx5_0");
	put_device(b, "uverbs1", "mlx5_1");
	answer(b, "{\"devices\": [" DEVICE("mlx5_0", "\"leased\": true") "]}");
	check(b, wv_check_leasing);
	expect(b, WV_MARK_FAIL, "did not find the provider of mlx5_0", "--provider-dir");
	answer(b, "{\"devices\": [" DEVICE("mlx5_0", PROVIDER) "]}");
	check(b, wv_check_leasing);
	expect(b, WV_MARK_NOTE, "the daemon does not know mlx5_1", "journalctl");
	expect(b, WV_MARK_OK, "leases 1 of 2", "");
	answer(b, "{\"devices\": [" DEVICE("mlx5_0", NOT_LEASED) "]}");
	check(b, wv_check_leasing);
	expect(b, WV_MARK_FAIL, "mlx5_0 is not leased: it is old", "plain verbs");
	expect(b, WV_MARK_FAIL, "the daemon does not know mlx5_1", "uverbs1");
	answer(b,
	       "{\"devices\": [" DEVICE("mlx5_0", NOT_LEASED ", \"remedy\": \"make it new\"") "]}");
	check(b, wv_check_leasing);
	expect(b, WV_MARK_FAIL, "mlx5_0 is not leased: it is old", "make it new");
}

static void test_recipes(void **state)
{
	struct bench *b = *state;
	char text[512];

	answer(b, "{\"recipes\": [{\"uid\": 4711, \"pool\": {\"ready\": 7}}]}");
	check(b, wv_check_recipes);
	expect(b, WV_MARK_NOTE, "0 recipes of this user, 0 leases", "warmverbs run -- PROGRAM");
	snprintf(text, sizeof(text),
		 "{\"recipes\": [{\"uid\": %u, \"pool\": {\"ready\": 7}}, {\"uid\": %u, \"id\": "
		 "\"0af\", \"comm\": \"ping\\u001b\", \"unfit\": \"too large\"}]}",
		 geteuid(), geteuid());
	answer(b, text);
	check(b, wv_check_recipes);
	expect(b, WV_MARK_OK, "2 recipes of this user, 7 leases", "");
	expect(b, WV_MARK_NOTE, "ping? is not prepared: too large", "forget 0af");
}

#define PEERS_ON "{\"on\": true, \"credentials\": null, \"peers\": ["
#define PEER_UP	 "{\"node\": \"one\", \"state\": \"up\", \"why\": null, \"port\": 4818}"
#define PEER_DOWN                                                                                  \
	"{\"node\": \"two\", \"state\": \"backing off\", \"why\": \"refused\", \"port\": 4818}"
#define PEER_SELF "{\"node\": \"me\", \"state\": \"this node\", \"why\": null, \"port\": 4818}"

static void peers_answer(struct bench *b, const char *text)
{
	json_decref(b->d.peers);
	b->d.peers = json_loads(text, 0, NULL);
	assert_non_null(b->d.peers);
	check(b, wv_check_peers);
}

static void test_peers(void **state)
{
	struct bench *b = *state;

	check(b, wv_check_peers);
	assert_int_equal(b->d.n_findings, 0);
	peers_answer(b, "{\"on\": false, \"credentials\": null, \"peers\": []}");
	assert_int_equal(b->d.n_findings, 0);
	peers_answer(b, PEERS_ON PEER_UP ", " PEER_SELF "]}");
	expect(b, WV_MARK_OK, "1 of 1 peers", "");
	peers_answer(b, PEERS_ON PEER_UP ", " PEER_DOWN "]}");
	expect(b, WV_MARK_NOTE, "two is not connected: refused", "TCP port 4818");
	expect(b, WV_MARK_NOTE, "1 of 2 peers", "");
	peers_answer(b, "{\"on\": true, \"credentials\": \"no such file\", \"peers\": 7}");
	expect(b, WV_MARK_NOTE, "not used: no such file", "peer-key");
	json_decref(b->d.peers);
}

static void test_answer(void **state)
{
	struct bench *b = *state;

	answer(b, "{\"version\": \"0.0.0\", \"uptime_s\": 3}");
	check(b, wv_check_answer);
	expect(b, WV_MARK_NOTE, "it is version 0.0.0", "systemctl restart");
	json_decref(b->d.status);
	b->d.status = NULL;
	b->d.status_error = -ECONNRESET;
	check(b, wv_check_answer);
	expect(b, WV_MARK_FAIL, "of another version", "systemctl restart");
	b->d.status_error = -ETIMEDOUT;
	check(b, wv_check_answer);
	expect(b, WV_MARK_FAIL, "does not answer", "systemctl restart");
	b->d.status_error = -ENOMEM;
	check(b, wv_check_answer);
	expect(b, WV_MARK_FAIL, "does not answer: Cannot allocate", "journalctl");
}

/* A daemon of any version, or who plays one, may say anything. */
static void test_strange_answers(void **state)
{
	static const char *const answers[] = {
	    "{}",
	    "{\"version\": 7, \"uptime_s\": \"x\", \"devices\": 3, \"recipes\": {}}",
	    "{\"uptime_s\": -1, \"devices\": [null, 1, {}, {\"name\": []}], \"recipes\": [[], {}]}",
	    "{\"devices\": [{\"name\": \"mlx5_0\", \"driver\": \"*/../%s\", \"driver_id\": -1}]}",
	    "{\"recipes\": [{\"uid\": 0, \"unfit\": {}, \"pool\": []}]}",
	};
	struct bench *b = *state;

	put_device(b, "uverbs0", "mlx5_0");
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(answers); i++) {
		answer(b, answers[i]);
		check(b, wv_check_answer);
		check(b, wv_check_devices);
		check(b, wv_check_providers);
		check(b, wv_check_recipes);
		check(b, wv_check_leasing);
		assert_int_equal(wv_count_findings(&b->d, WV_MARK_OK), 0);
	}
}

static void test_socket(void **state)
{
	struct bench *b = *state;

	check(b, wv_check_socket);
	expect(b, WV_MARK_FAIL, "run/socket: No such file", "enable --now warmverbsd");
	b->d.in_container = true;
	check(b, wv_check_socket);
	expect(b, WV_MARK_FAIL, "run/socket: No such file", "--device warmverbs/rdma=all");
	put(b, "", "run/socket");
	check(b, wv_check_socket);
	expect(b, WV_MARK_FAIL, "is not a socket", "WARMVERBS_SOCKET");
}

static void test_provider_list(void **state)
{
	struct bench *b = *state;
	char path[256];

	answer(b, "{}");
	check(b, wv_check_provider_list);
	expect(b, WV_MARK_FAIL, "run/providers: No such file", "restart warmverbsd");
	put(b, "", "run/providers");
	snprintf(path, sizeof(path), "%s/run/providers", b->root);
	assert_int_equal(chmod(path, 0644), 0);
	check(b, wv_check_provider_list);
	expect(b, WV_MARK_OK, "run/providers", "");
	assert_int_equal(chmod(path, 0666), 0);
	check(b, wv_check_provider_list);
	expect(b, WV_MARK_FAIL, "programs do not trust", "chmod go-w");
}

static void test_environment(void **state)
{
	static const struct {
		const char *name, *value;
		enum wv_mark mark;
		const char *found;
	} cases[] = {
	    {"WARMVERBS_DISABLE", "0", WV_MARK_OK, ""},
	    {"WARMVERBS_DISABLE", "", WV_MARK_OK, ""},
	    {"WARMVERBS_DISABLE", "1", WV_MARK_FAIL, "the library does nothing"},
	    {"WARMVERBS_LEASE", "1", WV_MARK_OK, ""},
	    {"WARMVERBS_LEASE", "0", WV_MARK_FAIL, "no lease"},
	    {"IBV_DRIVERS", "", WV_MARK_FAIL, "no lease"},
	    {"MLX_QP_ALLOC_TYPE", "ANON", WV_MARK_OK, ""},
	    {"HUGE_CQ", "1", WV_MARK_OK, ""},
	    {"HUGE_PAGES", "1", WV_MARK_OK, ""},
	    {"WARMVERBS_PREFORK", "16", WV_MARK_OK, ""},
	    {"WARMVERBS_PREFORK", "lots", WV_MARK_NOTE, "a number"},
	    {"WARMVERBS_PREFORK", "65", WV_MARK_NOTE, "a number"},
	    {"WARMVERBS_NAME", "0123456789012345678901234567890", WV_MARK_OK, ""},
	    {"WARMVERBS_NAME", "01234567890123456789012345678901", WV_MARK_NOTE, "31 bytes"},
	    {"WARMVERBS_TRACE", "/tmp/x", WV_MARK_NOTE, "trace"},
	};
	struct bench *b = *state;

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(cases); i++)
		unsetenv(cases[i].name);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(cases); i++) {
		setenv(cases[i].name, cases[i].value, 1);
		check(b, wv_check_environment);
		assert_int_equal(b->d.n_findings, 1);
		expect(b, cases[i].mark, cases[i].found, cases[i].mark ? cases[i].name : "");
		unsetenv(cases[i].name);
	}
}

/* What libmlx5 alone reads matters where there is a device for it. */
static void test_environment_of_a_provider(void **state)
{
	struct bench *b = *state;

	put_device(b, "uverbs0", "mlx5_0");
	setenv("MLX_QP_ALLOC_TYPE", "ANON", 1);
	setenv("HUGE_CQ", "1", 1);
	check(b, wv_check_environment);
	unsetenv("MLX_QP_ALLOC_TYPE");
	unsetenv("HUGE_CQ");
	expect(b, WV_MARK_FAIL, "no lease of mlx5", "unset MLX_QP_ALLOC_TYPE");
	expect(b, WV_MARK_FAIL, "no lease of mlx5", "unset HUGE_CQ");
}

static void test_library(void **state)
{
	struct bench *b = *state;

	check(b, wv_check_library);
	expect(b, WV_MARK_OK, "for programs under 'warmverbs run'", "");
	b->d.library_error = -ENOENT;
	check(b, wv_check_library);
	expect(b, WV_MARK_FAIL, "libwarmverbs.so.0 cannot be read: No such file", "install");
	setenv("LD_PRELOAD", "a.so:/nowhere/libwarmverbs.so.0", 1);
	check(b, wv_check_library);
	expect(b, WV_MARK_FAIL, "LD_PRELOAD names /nowhere/libwarmverbs.so.0", "unset");
	unsetenv("LD_PRELOAD");
}

static void test_memlock(void **state)
{
	struct bench *b = *state;
	struct rlimit before, small;

	put(b, "Name:\ttest\nCapEff:\t0000000000000000\n", "proc/self/status");
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &before), 0);
	small = before;
	small.rlim_cur = 65536;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &small), 0);
	check(b, wv_check_memlock);
	expect(b, WV_MARK_NOTE, "64 KiB of memory may be locked",
	       before.rlim_max == RLIM_INFINITY ? "ulimit -l" : "limits.d");
	put(b, "CapEff:\t0000000000004000\n", "proc/self/status");
	put(b, "", "proc/self/ns/x");
	assert_int_equal(symlinkat("user:[4026531837]", AT_FDCWD,
				   strcat(strcpy((char[128]){0}, b->root), "/proc/self/ns/user")),
			 0);
	check(b, wv_check_memlock);
	expect(b, WV_MARK_OK, "any amount", "");
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
}

static void test_container(void **state)
{
	struct bench *b = *state;

	unsetenv("container");
	put(b, "         0          0 4294967295\n", "proc/self/uid_map");
	assert_false(wv_is_contained(b->d.root));
	put(b, "         0       1000          1\n", "proc/self/uid_map");
	assert_true(wv_is_contained(b->d.root));
	put(b, "         0          0 4294967295\n", "proc/self/uid_map");
	put(b, "", "run/.containerenv");
	assert_true(wv_is_contained(b->d.root));
}

static void test_report(void **state)
{
	struct bench *b = *state;
	const char *mark = NULL, *remedy = NULL;
	struct capture c;
	json_t *report;
	int well = 1;

	wv_found(&b->d, WV_MARK_OK, "good");
	wv_found(&b->d, WV_MARK_FAIL, "bad \n%s", "news");
	wv_remedy(&b->d, "do %s", "this");
	capture_begin(&c);
	wv_doctor_text(&b->d, c.out);
	capture_expect(&c, "ok    test         good\n"
			   "FAIL  test         bad ?news\n"
			   "                   > do this\n"
			   "\n"
			   "1 problem keeps programs from leases: they run with plain verbs\n");
	report = wv_doctor_json(&b->d);
	assert_int_equal(json_unpack(report, "{s:b, s:[{s:n}, {s:s, s:s}]}", "well", &well,
				     "findings", "remedy", "mark", &mark, "remedy", &remedy),
			 0);
	assert_false(well);
	assert_string_equal(mark, "fail");
	assert_string_equal(remedy, "do this");
	json_decref(report);
}

#define case_of(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    case_of(test_no_device),	 case_of(test_netdev_of_strange_name),
	    case_of(test_no_node),	 case_of(test_ports),
	    case_of(test_strange_sysfs), case_of(test_many_devices),
	    case_of(test_providers),	 case_of(test_leasing),
	    case_of(test_recipes),	 case_of(test_answer),
	    case_of(test_peers),	 case_of(test_strange_answers),
	    case_of(test_socket),	 case_of(test_provider_list),
	    case_of(test_environment),	 case_of(test_environment_of_a_provider),
	    case_of(test_library),	 case_of(test_memlock),
	    case_of(test_container),	 case_of(test_report),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
