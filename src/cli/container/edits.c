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

/*
 * NULL, which jansson adds nowhere: there is no such node. A runtime looks up its type and number
 * by itself, but not always its mode.
 */
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

/* {name of each RDMA device that has a node: the node} */
static json_t *nodes_by_device(void)
{
	static struct wv_seen_device seen[WV_MAX_DEVICES];
	unsigned int n = wv_see_devices(wv_seen_sysfs(), seen);
	json_t *nodes = json_object();

	for (const struct wv_seen_device *device = seen; device < seen + n; device++) {
		wv_auto_free char *path = NULL;

		if (asprintf(&path, NODES "%s", device->node) > 0)
			json_object_set_new(nodes, device->ibdev, cdi_node(path));
	}
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
	json_t *nodes = nodes_by_device(), *devices = NULL, *all, *node;
	const char *name;

	if (json_object_size(nodes)) {
		devices = json_array();
		all = json_array();
		json_object_foreach(nodes, name, node)
		{
			json_array_append_new(devices, cdi_device(name, json_pack("[O]", node)));
			json_array_append(all, node);
		}
		json_array_append_new(devices, cdi_device("all", all));
	}
	json_decref(nodes);
	return devices ? json_pack("{s:s, s:s, s:o, s:o}", "cdiVersion", "0.5.0", "kind", CDI_KIND,
				   "devices", devices, "containerEdits", common_edits(hook))
		       : NULL;
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

static int add_oci_nodes(json_t *config, json_t *nodes)
{
	json_t *to_linux = object_in(config, "linux");
	json_t *devices = array_in(to_linux, "devices");
	json_t *rules = array_in(object_in(to_linux, "resources"), "devices");
	const char *name;
	json_t *node;

	if (!devices || !rules)
		return -EINVAL;
	json_object_foreach(nodes, name, node)
	    add_oci_node(devices, rules, json_string_value(json_object_get(node, "path")));
	return 0;
}

int wv_container_add(json_t *config, const char *hook)
{
	json_t *hooks = array_in(object_in(config, "hooks"), HOOK), *nodes;
	int err;

	if (!hooks)
		return -EINVAL;
	nodes = nodes_by_device();
	err = json_object_size(nodes) ? 0 : -ENODEV;
	json_object_set_new(nodes, CM_NODE, cdi_node(CM_NODE));
	if (!err)
		err = add_oci_nodes(config, nodes);
	if (!err && !has_path(hooks, hook))
		json_array_append_new(hooks, hook_json(hook));
	json_decref(nodes);
	return err;
}
