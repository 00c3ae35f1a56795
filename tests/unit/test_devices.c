/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The devices of a node that is made up: sysfs in a folder of our own, and /dev in a mount
 * namespace of our own, where /dev/null plays the device node.
 */
#include "fixture.h"

#include "abi/drivers.h"
#include "base/log.h"
#include "btf_files.h"
#include "daemon/devices/devices.h"
#include "daemon/devices/providers_file.h"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define DEVICE "uverbs4711" /* of which no node has so many */
#define ABSENT "uverbs4712" /* its node is not there */
#define NODE   WV_NODE_DIR "/" DEVICE

static char dir[] = "/tmp/test_devices.XXXXXX";
static const char *no_node; /* why there is none, or NULL */

static void write_file(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static const char *in_dir(const char *path)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s/%s", dir, path);
	return text;
}

static void make_entry_of(const char *sysfs, const char *name, const char *ibdev)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/%s", sysfs, name);
	assert_int_equal(mkdir(in_dir(path), 0755), 0);
	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/%s/device", sysfs, name);
	assert_int_equal(mkdir(in_dir(path), 0755), 0);
	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/%s/device/driver", sysfs, name);
	assert_int_equal(symlink("../../../../bus/pci/drivers/mlx5_core", in_dir(path)), 0);
	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/%s/ibdev", sysfs, name);
	write_file(in_dir(path), ibdev);
	snprintf(path, sizeof(path), "%s/class/infiniband_verbs/%s/dev", sysfs, name);
	write_file(in_dir(path), "1:3\n");
}

static void make_entry(const char *name, const char *ibdev)
{
	make_entry_of("sys", name, ibdev);
}

/*
 * The kernel's driver, whose doorbell pages have a second member of that name; NULL: it does not
 * tell.
 */
static void set_kernel(const char *member)
{
	if (member)
		write_btf(in_dir("sys/kernel/btf"), "mlx5_ib", "mlx5_ib_user_db_page", member);
	else
		assert_int_equal(unlink(in_dir("sys/kernel/btf/mlx5_ib")), 0);
}

static void make_tree(void)
{
	static const char *const folders[] = {
	    "sys",	 "sys/class", "sys/class/infiniband_verbs", "sys/kernel", "sys/kernel/btf",
	    "providers", "empty"};

	assert_non_null(mkdtemp(dir));
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(folders); i++)
		assert_int_equal(mkdir(in_dir(folders[i]), 0755), 0);
	make_entry(DEVICE, "mlx5_0\n");
	make_entry(ABSENT, "mlx5_1\n");
	write_file(in_dir("sys/class/infiniband_verbs/abi_version"), "6\n");
	write_file(in_dir("providers/libmlx5-rdmav34.so"), "");
	set_kernel("mm");
}

/* An ordinary user may mount in a user namespace only, where that user is root. */
static int unshare_mounts(void)
{
	char users[32], groups[32];

	if (!getuid())
		return unshare(CLONE_NEWNS);
	snprintf(users, sizeof(users), "0 %u 1", getuid());
	snprintf(groups, sizeof(groups), "0 %u 1", getgid());
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -1;
	write_file("/proc/self/uid_map", users);
	write_file("/proc/self/setgroups", "deny");
	write_file("/proc/self/gid_map", groups);
	return 0;
}

/* A file at @path that is the node open as @null. 0 or -1 with errno. */
static int bind_node(int null, const char *path)
{
	wv_auto_fd node = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	char from[32];

	snprintf(from, sizeof(from), "/proc/self/fd/%d", null);
	return node < 0 ? -1 : mount(from, path, NULL, MS_BIND, NULL);
}

/* 0 or -1 with errno. */
static int make_node(void)
{
	wv_auto_fd null = -1;

	if (unshare_mounts() || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -1;
	null = open("/dev/null", O_PATH | O_CLOEXEC); /* soon it is hidden */
	if (null < 0 || mount("tmpfs", "/dev", "tmpfs", 0, NULL) || mkdir(WV_NODE_DIR, 0755))
		return -1;
	return bind_node(null, NODE);
}

static int set_up(void **state)
{
	(void)state;
	wv_log_init(WV_ERROR);
	make_tree();
	if (make_node())
		no_node = strerror(errno);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return remove_tree(dir);
}

/* Scans again for the devices @wanted, given what was found before. */
static void rescan_for(struct wv_devices *devices, const char *wanted, bool trust_kernel)
{
	char providers[64];
	struct wv_scan_options options = {
	    .provider_dir = providers, .wanted = wanted, .trust_kernel = trust_kernel};

	strcpy(providers, in_dir("providers"));
	assert_int_equal(wv_devices_scan(devices, &options), 0);
}

static void rescan(struct wv_devices *devices, bool trust_kernel)
{
	rescan_for(devices, "*", trust_kernel);
}

static struct wv_devices scan(const char *sysfs)
{
	struct wv_devices devices = {.n = 0};

	if (sysfs)
		setenv("SYSFS_PATH", sysfs, 1);
	else
		unsetenv("SYSFS_PATH");
	rescan(&devices, false);
	return devices;
}

static void needs_node(void)
{
	if (!no_node)
		return;
	print_message("no device node can be made here: %s\n", no_node);
	skip();
}

static void expect_the_device(const struct wv_devices *devices)
{
	const struct wv_device *device = &devices->all[0];

	assert_int_equal(devices->n, 1);
	assert_string_equal(device->name, DEVICE);
	assert_string_equal(device->ibdev, "mlx5_0");
	assert_string_equal(device->node, NODE);
	assert_true(device->rdev == makedev(1, 3));
	assert_int_equal(device->driver_id, RDMA_DRIVER_MLX5);
	assert_true(device->leasable);
	assert_string_equal(device->unleased_because, "");
	assert_string_equal(device->provider, in_dir("providers/libmlx5-rdmav34.so"));
}

static void test_devices_of_a_given_tree(void **state)
{
	struct wv_devices devices;

	(void)state;
	needs_node();
	devices = scan(in_dir("sys"));
	expect_the_device(&devices);
	devices = scan(in_dir("sys//"));
	expect_the_device(&devices);
}

/* A first scan on such a kernel. */
static struct wv_device first_seen(const char *member, bool trust_kernel)
{
	struct wv_devices devices = {.n = 0};

	set_kernel(member);
	setenv("SYSFS_PATH", in_dir("sys"), 1);
	rescan(&devices, trust_kernel);
	set_kernel("mm");
	assert_int_equal(devices.n, 1);
	return devices.all[0];
}

static void test_a_kernel_with_shared_doorbell_pages(void **state)
{
	(void)state;
	needs_node();
	for (int trust_kernel = 0; trust_kernel < 2; trust_kernel++) {
		struct wv_device device = first_seen("mn", trust_kernel);

		assert_false(device.leasable);
		assert_non_null(strstr(device.unleased_because, "has no member mm"));
		assert_non_null(strstr(device.remedy, "Linux 5.15"));
	}
}

static void test_a_kernel_that_does_not_tell(void **state)
{
	struct wv_device device;

	(void)state;
	needs_node();
	device = first_seen(NULL, false);
	assert_false(device.leasable);
	assert_non_null(strstr(device.unleased_because, "not known whether mlx5_ib"));
	assert_non_null(strstr(device.remedy, "--trust-kernel"));
	device = first_seen(NULL, true);
	assert_true(device.leasable);
	assert_string_equal(device.unleased_because, "");
	assert_null(device.remedy);
}

/* The kernel is asked once, and again when the driver may have been replaced. */
static void test_the_answer_is_remembered(void **state)
{
	struct wv_devices devices = scan(in_dir("sys"));

	(void)state;
	needs_node();
	set_kernel(NULL);
	rescan(&devices, false);
	assert_int_equal(devices.n, 1);
	assert_true(devices.all[0].leasable);
	devices.n = 0; /* as if unloaded */
	rescan(&devices, false);
	assert_false(devices.all[0].leasable);
	set_kernel("mm");
	rescan(&devices, false);
	assert_false(devices.all[0].leasable);
}

static void test_devices_that_are_not_wanted(void **state)
{
	static const struct {
		const char *wanted;
		bool leased;
	} rows[] = {
	    {"mlx5_0", true},  {"mlx5_1", false},     {"mlx5_1,mlx5_0", true}, {"mlx5_*", true},
	    {"rxe*", false},   {"rxe*,mlx5_?", true}, {"mlx5_", false},	       {"mlx5_0x", false},
	    {",mlx5_0", true}, {",", false},
	};

	(void)state;
	needs_node();
	setenv("SYSFS_PATH", in_dir("sys"), 1);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(rows); i++) {
		struct wv_devices devices = {.n = 0};
		const struct wv_device *device = &devices.all[0];

		rescan_for(&devices, rows[i].wanted, false);
		assert_int_equal(devices.n, 1);
		assert_int_equal(device->leasable, rows[i].leased);
		assert_string_equal(device->unleased_because,
				    rows[i].leased ? "" : "the option devices leaves it out");
		assert_int_equal(!device->remedy, rows[i].leased);
		assert_string_not_equal(device->provider, "");
	}
}

static void test_devices_of_the_node(void **state)
{
	struct wv_devices devices = scan(NULL);

	(void)state;
	assert_null(wv_devices_by_name(&devices, DEVICE));
}

static void test_a_tree_without_devices(void **state)
{
	struct wv_devices devices = scan(in_dir("empty"));

	(void)state;
	assert_int_equal(devices.n, 0);
}

static void test_a_device_without_node(void **state)
{
	struct wv_devices devices = scan(in_dir("sys"));

	(void)state;
	assert_null(wv_devices_by_name(&devices, ABSENT));
}

/* Scans again while this process may open @n descriptors. */
static int scan_with_descriptors(struct wv_devices *devices, unsigned int n)
{
	const struct wv_scan_options options = {.provider_dir = "/", .wanted = "*"};
	struct rlimit before, few;
	int lowest = dup(0), err;

	assert_return_code(lowest, errno);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &before);
	few = (struct rlimit){.rlim_cur = (rlim_t)lowest + n, .rlim_max = before.rlim_max};
	assert_return_code(setrlimit(RLIMIT_NOFILE, &few), errno);
	err = wv_devices_scan(devices, &options);
	assert_return_code(setrlimit(RLIMIT_NOFILE, &before), errno);
	return err;
}

/* Neither the folder can be opened nor, the second time, a file of a device. */
static void test_a_failed_scan_changes_nothing(void **state)
{
	static struct wv_devices devices, before;

	(void)state;
	setenv("SYSFS_PATH", in_dir("sys"), 1);
	devices.n = 1;
	strcpy(devices.all[0].name, "uverbs0");
	before = devices;
	for (unsigned int n = 0; n < 2; n++) {
		assert_int_equal(scan_with_descriptors(&devices, n), -EMFILE);
		assert_memory_equal(&devices, &before, sizeof(devices));
	}
}

/* A node with @n devices more, numbered after @first. */
static void add_devices(unsigned int first, unsigned int n)
{
	wv_auto_fd null = open(NODE, O_PATH | O_CLOEXEC);

	for (unsigned int i = first; i < first + n; i++) {
		char name[32], ibdev[32], node[64];

		snprintf(name, sizeof(name), "uverbs%u", i);
		snprintf(ibdev, sizeof(ibdev), "mlx5_%u\n", i);
		snprintf(node, sizeof(node), WV_NODE_DIR "/%s", name);
		make_entry_of("many", name, ibdev);
		assert_int_equal(bind_node(null, node), 0);
	}
}

static unsigned int count_lines(const char *path)
{
	FILE *in = fopen(path, "re");
	unsigned int n = 0;

	assert_non_null(in);
	for (int c; (c = fgetc(in)) != EOF;)
		n += c == '\n';
	fclose(in);
	return n;
}

/* All are found, and listed for programs, up to the limit. */
static void test_many_devices(void **state)
{
	static const unsigned int more[] = {1, 16, 47, 1};
	unsigned int n = 0;

	(void)state;
	needs_node();
	assert_int_equal(mkdir(in_dir("many"), 0755), 0);
	assert_int_equal(mkdir(in_dir("many/class"), 0755), 0);
	assert_int_equal(mkdir(in_dir("many/class/infiniband_verbs"), 0755), 0);
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(more); i++) {
		struct wv_devices devices;

		add_devices(n, more[i]);
		n += more[i];
		devices = scan(in_dir("many"));
		assert_int_equal(devices.n, n < WV_MAX_DEVICES ? n : WV_MAX_DEVICES);
		assert_int_equal(wv_providers_write(&devices, in_dir("many")), 0);
		assert_int_equal(count_lines(in_dir("many/" WV_PROVIDERS_FILE)), devices.n);
	}
}

static void test_drivers_of_parents(void **state)
{
	(void)state;
	assert_int_equal(wv_driver_of_parent("mlx5_core"), RDMA_DRIVER_MLX5);
	assert_string_equal(wv_provider_name(RDMA_DRIVER_MLX5), "mlx5");
	assert_int_equal(wv_driver_of_parent("virtio_net"), WV_NO_DRIVER);
	assert_null(wv_provider_name(WV_NO_DRIVER));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_devices_of_a_given_tree),
	    cmocka_unit_test(test_a_kernel_with_shared_doorbell_pages),
	    cmocka_unit_test(test_a_kernel_that_does_not_tell),
	    cmocka_unit_test(test_the_answer_is_remembered),
	    cmocka_unit_test(test_devices_that_are_not_wanted),
	    cmocka_unit_test(test_devices_of_the_node),
	    cmocka_unit_test(test_a_tree_without_devices),
	    cmocka_unit_test(test_a_device_without_node),
	    cmocka_unit_test(test_a_failed_scan_changes_nothing),
	    cmocka_unit_test(test_many_devices),
	    cmocka_unit_test(test_drivers_of_parents),
	};

	return cmocka_run_group_tests_name("devices", tests, set_up, tear_down);
}
