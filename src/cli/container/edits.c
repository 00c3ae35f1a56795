/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/container/edits.h"

#include "base/base.h"
#include "cli/doctor/seen_devices.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define NODES	 "/dev/infiniband/"
#define CM_NODE	 NODES "rdma_cm"
#define HOOK	 "createRuntime"
#define CDI_KIND "warmverbs/rdma"
/*
 * Seconds after which the runtime gives up the hook and the container. The hook reads files of the
 * image, so whoever made the image could delay it; a busy node delays it, too.
 */
#define HOOK_LIMIT_S 60

/* A runtime looks up type and number of a node by itself, but not always its mode. */
static json_t *cdi_node(const char *path)
{
	struct stat st;

	if (stat(path, &st) || !S_ISCHR(st.st_mode))
		return NULL;
	return json_pack("{s:s, s:s, s:i}", "path", path, "permissions", "rw", "fileMode",
			 (int)(st.st_mode & 0777));
}

static json_t *cdi_device(const char *name, json_t *nodes)
{
	return json_pack("{s:s, s:{s:o}}", "name", name, "containerEdits", "deviceNodes", nodes);
}

/* Calls @add for the name and the node of each RDMA device. */
static void each_device(void (*add)(json_t *to, const char *name, json_t *node), json_t *to)
{
	const char *sysfs = getenv("SYSFS_PATH");
	static struct wv_doctor seen;
	char node[sizeof(NODES) + sizeof(seen.devices->node)];

	seen = (struct wv_doctor){.sysfs = sysfs && *sysfs ? sysfs : "/sys"};
	wv_see_devices(&seen);
	for (unsigned int i = 0; i < seen.n_devices; i++) {
		snprintf(node, sizeof(node), NODES "%s", seen.devices[i].node);
		add(to, seen.devices[i].ibdev, cdi_node(node));
	}
}

static void add_device(json_t *devices, const char *name, json_t *node)
{
	if (node)
		json_array_append_new(devices, cdi_device(name, json_pack("[o]", node)));
}

static void add_node(json_t *nodes, const char *name, json_t *node)
{
	(void)name;
	if (node)
		json_array_append_new(nodes, node);
}

static json_t *all_nodes(void)
{
	json_t *nodes = json_array();

	each_device(add_node, nodes);
	return nodes;
}

static json_t *hook_json(const char *hook)
{
	return json_pack("{s:s, s:[s, s, s], s:i}", "path", hook, "args", "warmverbs", "container",
			 "hook", "timeout", HOOK_LIMIT_S);
}

/* Applies to every device: the hook, and the node of the connection manager, where there is one. */
static json_t *common_edits(const char *hook)
{
	json_t *edits = json_pack("{s:[o]}", "hooks", hook_json(hook)), *node = cdi_node(CM_NODE);

	json_object_set_new(json_array_get(json_object_get(edits, "hooks"), 0), "hookName",
			    json_string(HOOK));
	if (node)
		json_object_set_new(edits, "deviceNodes", json_pack("[o]", node));
	return edits;
}

json_t *wv_container_cdi(const char *hook)
{
	json_t *devices = json_array();

	each_device(add_device, devices);
	if (!json_array_size(devices)) {
		json_decref(devices);
		return NULL;
	}
	json_array_append_new(devices, cdi_device("all", all_nodes()));
	return json_pack("{s:s, s:s, s:o, s:o}", "cdiVersion", "0.5.0", "kind", CDI_KIND, "devices",
			 devices, "containerEdits", common_edits(hook));
}

/* The array @parent.@name; made if it is not there; NULL: it is something else. */
static json_t *array_in(json_t *parent, const char *name)
{
	if (json_is_object(parent) && !json_object_get(parent, name))
		json_object_set_new(parent, name, json_array());
	json_t *array = json_object_get(parent, name);

	return json_is_array(array) ? array : NULL;
}

static json_t *object_in(json_t *parent, const char *name)
{
	if (json_is_object(parent) && !json_object_get(parent, name))
		json_object_set_new(parent, name, json_object());
	return json_object_get(parent, name);
}

static bool has_path(const json_t *array, const char *path)
{
	const json_t *entry;
	size_t i;

	json_array_foreach ((json_t *)array, i, entry) {
		const char *other = json_string_value(json_object_get(entry, "path"));

		if (other && !strcmp(other, path))
			return true;
	}
	return false;
}

static void add_oci_node(json_t *nodes, json_t *rules, const char *path)
{
	struct stat st;

	if (has_path(nodes, path) || stat(path, &st))
		return;
	json_array_append_new(nodes, json_pack("{s:s, s:s, s:i, s:i, s:i}", "path", path, "type",
					       "c", "major", (int)major(st.st_rdev), "minor",
					       (int)minor(st.st_rdev), "fileMode",
					       (int)(st.st_mode & 0777)));
	json_array_append_new(rules, json_pack("{s:b, s:s, s:i, s:i, s:s}", "allow", 1, "type", "c",
					       "major", (int)major(st.st_rdev), "minor",
					       (int)minor(st.st_rdev), "access", "rw"));
}

static int add_oci_nodes(json_t *config, const json_t *nodes)
{
	json_t *to_linux = object_in(config, "linux");
	json_t *devices = array_in(to_linux, "devices");
	json_t *rules = array_in(object_in(to_linux, "resources"), "devices");
	const json_t *node;
	size_t i;

	if (!devices || !rules)
		return -EINVAL;
	json_array_foreach ((json_t *)nodes, i, node)
		add_oci_node(devices, rules, json_string_value(json_object_get(node, "path")));
	return 0;
}

int wv_container_add(json_t *config, const char *hook)
{
	json_t *hooks = array_in(object_in(config, "hooks"), HOOK), *nodes, *cm;
	int err;

	if (!hooks)
		return -EINVAL;
	nodes = all_nodes();
	cm = cdi_node(CM_NODE);
	err = json_array_size(nodes) ? 0 : -ENODEV;
	if (cm)
		json_array_append_new(nodes, cm);
	if (!err)
		err = add_oci_nodes(config, nodes);
	if (!err && !has_path(hooks, hook))
		json_array_append_new(hooks, hook_json(hook));
	json_decref(nodes);
	return err;
}
