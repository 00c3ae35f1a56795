/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/containers.h"

#include "base/base.h"
#include "cli/complain.h"
#include "cli/container/edits.h"
#include "cli/container/hook.h"
#include "cli/library.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int complain_no_device(void)
{
	wv_complain("load the driver of the device and ib_uverbs; 'rdma link' lists devices",
		    "this node has no RDMA device with a node in /dev/infiniband");
	return WV_EXIT_FAILED;
}

static int complain_of_file(const char *path, int err)
{
	wv_complain("choose a file that you may write", "cannot write %s: %s", path,
		    strerror(-err));
	return WV_EXIT_FAILED;
}

/* Runtimes run the hook by this path. */
static int own_path(char path[static PATH_MAX])
{
	if (realpath("/proc/self/exe", path))
		return 0;
	wv_complain("mount /proc", "cannot find out the path of this program: %s", strerror(errno));
	return WV_EXIT_FAILED;
}

static int dump(const json_t *document, int fd)
{
	if (json_dumpfd(document, fd, JSON_INDENT(2)) || write(fd, "\n", 1) != 1)
		return errno ? -errno : -ENOMEM;
	return 0;
}

/* A runtime that reads meanwhile sees the old file or the new one. */
static int replace(const char *path, const json_t *document)
{
	wv_auto_free char *other = NULL;
	wv_auto_fd fd = -1;
	int err;

	if (asprintf(&other, "%s.XXXXXX", path) < 0)
		return -ENOMEM;
	fd = mkostemp(other, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = dump(document, fd);
	if (!err && (fchmod(fd, 0644) || rename(other, path)))
		err = -errno;
	if (err)
		unlink(other);
	return err;
}

/* The folder of specifications need not exist: runtimes do without it. */
static int write_specification(const char *path, const json_t *document)
{
	wv_auto_free char *folder = strdup(path);

	if (!folder)
		return -ENOMEM;
	if (mkdir(dirname(folder), 0755) && errno != EEXIST)
		return -errno;
	return replace(path, document);
}

static int run_cdi(const struct wv_arguments *a)
{
	char hook[PATH_MAX];
	json_t *document;
	int err = own_path(hook);

	if (err)
		return err;
	document = wv_container_cdi(hook);
	if (!document)
		return complain_no_device();
	err = a->output ? write_specification(a->output, document) : dump(document, STDOUT_FILENO);
	json_decref(document);
	return err ? complain_of_file(a->output ? a->output : "the output", err) : 0;
}

static int run_oci(const struct wv_arguments *a)
{
	char hook[PATH_MAX];
	json_error_t error;
	int err = own_path(hook);
	json_t *config;

	if (err)
		return err;
	config = json_load_file(a->operand, 0, &error);
	err = config ? wv_container_add(config, hook) : -EINVAL;
	if (err == -EINVAL)
		wv_complain("give the config.json of a bundle, or what 'ctr oci spec' prints",
			    "%s is no configuration of a container%s%s", a->operand,
			    config ? "" : ": ", config ? "" : error.text);
	else if (err == -ENODEV)
		complain_no_device();
	else if ((err = replace(a->operand, config)))
		complain_of_file(a->operand, err);
	json_decref(config);
	return err ? WV_EXIT_FAILED : 0;
}

static int run_hook(const struct wv_arguments *a)
{
	char library[PATH_MAX];

	(void)a;
	wv_library_find(library); /* where it should be: the hook says if it is not there */
	return wv_container_hook(stdin, library);
}

static const struct wv_action actions[] = {
    {"cdi", NULL, run_cdi},
    {"oci", "a FILE", run_oci},
    {"hook", NULL, run_hook},
    {0},
};

static const struct argp_option options[] = {
    {"output", WV_OPTION(output), "FILE", 0, "With cdi: write to FILE", 0},
    {0},
};

static const char *object(const struct wv_arguments *a)
{
	return a->output && a->action->main != run_cdi ? "--output is for cdi" : NULL;
}

const struct wv_subcommand wv_cli_container = {
    .name = "container",
    .summary = "give containers RDMA devices and leases",
    .options = options,
    .arguments = "cdi\noci FILE\nhook",
    .help = "Give containers the node's RDMA devices, and what makes their programs warm: print a "
	    "CDI specification of the devices, or add them to FILE, the config.json of a "
	    "container. The runtime then calls the hook.\v"
	    "Exit status: 0 done, 1 failed, 2 wrong usage.",
    .actions = actions,
    .action_names = "cdi, oci or hook",
    .objection = object,
};
