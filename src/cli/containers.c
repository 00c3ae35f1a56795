/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/containers.h"

#include "base/base.h"
#include "cli/arguments.h"
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

struct container {
	const struct action *action;
	const char *config, *output; /* files */
};

struct action {
	const char *name;
	bool takes_file;
	int (*run)(const struct container *container); /* returns the exit code */
};

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

static int run_cdi(const struct container *container)
{
	char hook[PATH_MAX];
	json_t *document;
	int err = own_path(hook);

	if (err)
		return err;
	document = wv_container_cdi(hook);
	if (!document)
		return complain_no_device();
	err = container->output ? write_specification(container->output, document)
				: dump(document, STDOUT_FILENO);
	json_decref(document);
	return err ? complain_of_file(container->output ? container->output : "the output", err)
		   : 0;
}

static int run_oci(const struct container *container)
{
	char hook[PATH_MAX];
	json_error_t error;
	int err = own_path(hook);
	json_t *config;

	if (err)
		return err;
	config = json_load_file(container->config, 0, &error);
	err = config ? wv_container_add(config, hook) : -EINVAL;
	if (err == -EINVAL)
		wv_complain("give the config.json of a bundle, or what 'ctr oci spec' prints",
			    "%s is no configuration of a container%s%s", container->config,
			    config ? "" : ": ", config ? "" : error.text);
	else if (err == -ENODEV)
		complain_no_device();
	else if ((err = replace(container->config, config)))
		complain_of_file(container->config, err);
	json_decref(config);
	return err ? WV_EXIT_FAILED : 0;
}

static int run_hook(const struct container *container)
{
	char library[PATH_MAX];

	(void)container;
	wv_library_find(library); /* where it should be: the hook says if it is not there */
	return wv_container_hook(stdin, library);
}

static const struct action actions[] = {
    {"cdi", false, run_cdi},
    {"oci", true, run_oci},
    {"hook", false, run_hook},
};

static const struct argp_option options[] = {
    {"output", WV_OPTION_OUTPUT, "FILE", 0, "With cdi: write to FILE", 0},
    {0},
};

static const struct action *find(const char *name)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(actions); i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static void take_word(struct container *c, char *word, struct argp_state *state)
{
	if (!c->action && !(c->action = find(word)))
		argp_error(state, "unknown action '%s': give cdi, oci or hook", word);
	else if (state->arg_num == 1 && c->action->takes_file)
		c->config = word;
	else if (state->arg_num > 0)
		argp_error(state, "unexpected argument '%s'", word);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct container *c = state->input;

	switch (key) {
	case WV_OPTION_OUTPUT:
		c->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		take_word(c, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!c->action)
			argp_usage(state);
		else if (c->action->takes_file && !c->config)
			argp_error(state, "%s needs a FILE", c->action->name);
		else if (c->output && c->action->run != run_cdi)
			argp_error(state, "--output is for cdi");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "cdi\noci FILE\nhook",
    .doc = "Give containers the node's RDMA devices, and what makes their programs warm: print a "
	   "CDI specification of the devices, or add them to FILE, the config.json of a container. "
	   "The runtime then calls the hook.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage.",
};

static int main_of_container(int argc, char **argv)
{
	struct container container = {0};

	wv_arguments_parse(&argp, argc, argv, 0, &container);
	return container.action->run(&container);
}

const struct wv_subcommand wv_cli_container = {
    .name = "container",
    .summary = "give containers RDMA devices and leases",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_container,
};
