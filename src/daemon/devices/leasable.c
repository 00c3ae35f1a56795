/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libbpf reads BTF. A module's file extends the kernel's own, "vmlinux".
 */
#include "daemon/devices/leasable.h"

#include "abi/abi.h"
#include "abi/drivers.h"
#include "base/base.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>

struct why {
	char *text;
	size_t capacity;
};

static void free_btf(struct btf **btf)
{
	btf__free(*btf);
}

/* Parses a file, on top of @base unless that is NULL. 0 and *@btf, the caller's; or -errno. */
static int parse(const char *path, struct btf *base, struct btf **btf, struct why *why)
{
	int err;

	*btf = btf__parse_raw_split(path, base);
	if (*btf)
		return 0;
	err = errno ? -errno : -EINVAL;
	snprintf(why->text, why->capacity, "%s: %s", path, strerror(-err));
	return err;
}

static bool has_member(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const struct btf_member *members = btf_members(type);

	for (unsigned int i = 0; i < btf_vlen(type); i++) {
		const char *other = btf__name_by_offset(btf, members[i].name_off);

		if (other && !strcmp(other, name))
			return true;
	}
	return false;
}

static int look_up(const char *path, const struct btf *btf, const char *type, const char *member,
		   struct why *why)
{
	int id = btf__find_by_name_kind(btf, type, BTF_KIND_STRUCT);

	if (id < 0) {
		snprintf(why->text, why->capacity, "%s: no struct %s", path, type);
		return -ENOENT;
	}
	return has_member(btf, btf__type_by_id(btf, (__u32)id), member) ? 0 : WV_NO_MEMBER;
}

static int be_silent(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

int wv_kernel_has_member(const char *sysfs, const char *module, const char *type,
			 const char *member, char *text, size_t capacity)
{
	wv_cleanup(free_btf) struct btf *kernel = NULL, *own = NULL;
	struct why why = {.text = text, .capacity = capacity};
	char kernel_path[PATH_MAX], path[PATH_MAX];
	int err;

	libbpf_set_print(be_silent); /* the reason is the caller's to tell */
	snprintf(kernel_path, sizeof(kernel_path), "%s/kernel/btf/vmlinux", sysfs);
	snprintf(path, sizeof(path), "%s/kernel/btf/%s", sysfs, module);
	err = parse(kernel_path, NULL, &kernel, &why);
	if (err)
		return err;
	if (access(path, F_OK) && errno == ENOENT) {
		err = look_up(kernel_path, kernel, type, member, &why);
		if (err < 0) /* not built in */
			snprintf(text, capacity, "%s: %s", path, strerror(ENOENT));
		return err;
	}
	err = parse(path, kernel, &own, &why);
	return err ? err : look_up(path, own, type, member, &why);
}

bool wv_driver_is_leasable(uint32_t driver_id, const char *sysfs, bool trust_kernel, char *why,
			   size_t capacity, const char **remedy)
{
	const struct wv_driver_need *need = wv_driver_need(driver_id);
	char unknown[256];
	int err;

	*remedy = NULL;
	if (!wv_abi_driver(driver_id)) {
		snprintf(why, capacity, "the commands of its driver are not known");
		return false;
	}
	if (!need)
		return true;
	err = wv_kernel_has_member(sysfs, need->module, need->type, need->member, unknown,
				   sizeof(unknown));
	if (!err || (err < 0 && trust_kernel))
		return true;
	if (err == WV_NO_MEMBER) {
		snprintf(why, capacity, "%s does not %s: struct %s has no member %s", need->module,
			 need->purpose, need->type, need->member);
		*remedy = need->remedy;
	} else {
		snprintf(why, capacity, "not known whether %s does %s: %s", need->module,
			 need->purpose, unknown);
		*remedy = need->remedy_unknown;
	}
	return false;
}
