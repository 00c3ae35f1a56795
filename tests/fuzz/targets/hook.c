/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a runtime tells of a container: its state, and config.json of its bundle after that. The
 * hook reads both, in this process, and `container oci` adds to the latter. Neither mounts here.
 */
#include "fuzz.h"

#include "cli/container/container_root.h"
#include "cli/container/edits.h"
#include "cli/container/hook.h"
#include "cli/doctor/seen_devices.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#define NODES "/dev/infiniband/"

static jmp_buf end_of_child;
static json_t *state, *config;
static unsigned int n_mounted;

pid_t __wrap_fork(void);
_Noreturn void __wrap__exit(int status);
unsigned int __wrap_alarm(unsigned int seconds);
void *__wrap_signal(int number, void *handler);
int __wrap_setns(int fd, int kind);
void __wrap_syslog(int priority, const char *format, ...);
json_t *__wrap_json_loadf(FILE *in, size_t flags, json_error_t *error);
json_t *__wrap_json_load_file(const char *path, size_t flags, json_error_t *error);
int __wrap_wv_root_open(const char *path);
int __wrap_wv_root_mount_of(const char *from);
bool __wrap_wv_root_takes_library(int root, int library, char *why, size_t capacity);
int __wrap_wv_root_put(int root, int tree, const char *folder, const char *name, bool if_empty);
unsigned int __wrap_wv_see_devices(const char *sysfs, struct wv_seen_device *devices);
int __wrap_stat64(const char *path, struct stat *st);
int __real_stat64(const char *path, struct stat *st);

/* This process is the child until that ends. */
pid_t __wrap_fork(void)
{
	return 0;
}

_Noreturn void __wrap__exit(int status)
{
	assert_int_equal(status, 0);
	longjmp(end_of_child, 1);
}

/* libFuzzer has a use for them. */
unsigned int __wrap_alarm(unsigned int seconds)
{
	assert_true(seconds);
	return 0;
}

void *__wrap_signal(int number, void *handler)
{
	(void)number;
	return handler;
}

int __wrap_setns(int fd, int kind)
{
	(void)kind;
	assert_true(fd >= 0);
	return 0;
}

void __wrap_syslog(int priority, const char *format, ...)
{
	char line[512];
	va_list args;

	(void)priority;
	va_start(args, format);
	assert_in_range(vsnprintf(line, sizeof(line), format, args), 1, sizeof(line) - 1);
	va_end(args);
}

json_t *__wrap_json_loadf(FILE *in, size_t flags, json_error_t *error)
{
	(void)in;
	(void)flags;
	(void)error;
	return json_incref(state);
}

json_t *__wrap_json_load_file(const char *path, size_t flags, json_error_t *error)
{
	(void)flags;
	(void)error;
	assert_non_null(strstr(path, "/config.json"));
	return json_incref(config);
}

static int null_file(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

int __wrap_wv_root_open(const char *path)
{
	return strchr(path, '/') ? null_file() : -ENOENT;
}

int __wrap_wv_root_mount_of(const char *from)
{
	assert_int_equal(*from, '/');
	return null_file();
}

bool __wrap_wv_root_takes_library(int root, int library, char *why, size_t capacity)
{
	assert_true(root >= 0 && library >= 0);
	snprintf(why, capacity, "none");
	return true;
}

/* Three at most: the socket's folder, the library and the list. */
int __wrap_wv_root_put(int root, int tree, const char *folder, const char *name, bool if_empty)
{
	assert_true(root >= 0 && tree >= 0 && *folder != '/' && *name != '/');
	assert_true(++n_mounted <= 3 && (n_mounted == 3) == if_empty);
	return 0;
}

/* A node with a device. */
unsigned int __wrap_wv_see_devices(const char *sysfs, struct wv_seen_device *devices)
{
	(void)sysfs;
	*devices = (struct wv_seen_device){.node = "uverbs0", .ibdev = "mlx5_0"};
	return 1;
}

/* What stat() is where files may be long. */
int __wrap_stat64(const char *path, struct stat *st)
{
	return __real_stat64(strncmp(path, NODES, strlen(NODES)) ? path : "/dev/null", st);
}

static void run_hook(void)
{
	n_mounted = 0;
	if (!setjmp(end_of_child))
		wv_container_hook(stdin, "/dev/null");
	json_decref(state); /* of the child, which has ended */
}

/* What is there is not added again. */
static void add_to_config(void)
{
	json_t *once;

	if (wv_container_add(config, "/usr/bin/warmverbs"))
		return;
	once = json_deep_copy(config);
	assert_int_equal(wv_container_add(config, "/usr/bin/warmverbs"), 0);
	assert_true(json_equal(once, config));
	json_decref(once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	json_error_t error = {0};
	size_t read;

	state = json_loadb((const char *)data, bytes, JSON_DISABLE_EOF_CHECK, &error);
	read = state ? (size_t)error.position : 0;
	config = json_loadb((const char *)data + read, bytes - read, 0, NULL);
	run_hook();
	add_to_config();
	json_decref(state);
	json_decref(config);
	return 0;
}
