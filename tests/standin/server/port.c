/* SPDX-License-Identifier: BSD-2-Clause */
#include "port.h"

#include "kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PORT_FOLDER "sys/devices/mlx5_0/infiniband/mlx5_0/ports/1/"

static const char *const type_names[] = {
    [IB_UVERBS_GID_TYPE_ROCE_V1] = "IB/RoCE v1",
    [IB_UVERBS_GID_TYPE_ROCE_V2] = "RoCE v2",
};

/* In one step, so that nobody reads half of a file. A server without sysfs has nothing to tell. */
static void publish(const struct hca *hca, const char *path, const char *text)
{
	int fd = openat(hca->folder, "new", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return;
	dprintf(fd, "%s\n", text);
	close(fd);
	renameat(hca->folder, "new", hca->folder, path);
}

/* An empty entry has zeros; in the kernel, its type can't be read. */
static void publish_entry(const struct hca *hca, unsigned int index)
{
	const struct hca_gid *entry = &hca->gids[index];
	char text[48], path[96];
	unsigned int at = 0;

	for (unsigned int i = 0; i < sizeof(entry->raw); i++)
		at += (unsigned int)snprintf(text + at, sizeof(text) - at, "%s%02x",
					     i && i % 2 == 0 ? ":" : "",
					     entry->valid ? entry->raw[i] : 0);
	snprintf(path, sizeof(path), PORT_FOLDER "gids/%u", index);
	publish(hca, path, text);
	snprintf(path, sizeof(path), PORT_FOLDER "gid_attrs/types/%u", index);
	if (entry->valid)
		publish(hca, path, type_names[entry->type]);
	else
		unlinkat(hca->folder, path, 0);
}

static void ipv4_gid(const struct hca *hca, uint8_t raw[16])
{
	const uint8_t gid[16] = {[10] = 0xff, 0xff, 192, 0, 2, (uint8_t)hca->number};

	memcpy(raw, gid, sizeof(gid));
}

/* With the MAC address as its identifier (EUI-64). */
static void link_local_gid(const struct hca *hca, uint8_t raw[16])
{
	const uint8_t gid[16] = {0xfe, 0x80, [11] = 0xff, 0xfe, [15] = (uint8_t)hca->number};

	memcpy(raw, gid, sizeof(gid));
}

static void tell_all(struct hca *hca, enum ibv_event_type type)
{
	struct hca_ufile *ufile;

	LIST_FOREACH (ufile, &hca->ufiles, of_hca)
		hca_port_async(ufile, type);
}

static void change_entry(struct hca *hca, unsigned int index, bool valid)
{
	hca->gids[index].valid = valid;
	publish_entry(hca, index);
	tell_all(hca, IBV_EVENT_GID_CHANGE);
}

/* At the first free entry, as in the kernel. */
static bool add_entry(struct hca *hca, const uint8_t raw[16], enum ib_uverbs_gid_type type)
{
	for (unsigned int i = 0; i < HCA_N_GIDS; i++) {
		struct hca_gid *entry = &hca->gids[i];

		if (entry->valid || entry->users)
			continue;
		entry->type = type;
		memcpy(entry->raw, raw, sizeof(entry->raw));
		change_entry(hca, i, true);
		return true;
	}
	return false;
}

/* RoCE v1 and v2 have an entry each. */
static int add_both(struct hca *hca, const uint8_t raw[16])
{
	bool added = add_entry(hca, raw, IB_UVERBS_GID_TYPE_ROCE_V1) &&
		     add_entry(hca, raw, IB_UVERBS_GID_TYPE_ROCE_V2);

	return added ? 0 : -ENOSPC;
}

void hca_address_init(struct hca *hca)
{
	uint8_t raw[16];

	for (unsigned int i = 0; i < HCA_N_GIDS; i++)
		publish_entry(hca, i);
	link_local_gid(hca, raw);
	add_both(hca, raw);
	ipv4_gid(hca, raw);
	add_both(hca, raw);
}

static bool has_gid(const struct hca *hca, const uint8_t raw[16], enum ib_uverbs_gid_type type)
{
	for (unsigned int i = 0; i < HCA_N_GIDS; i++) {
		const struct hca_gid *entry = &hca->gids[i];

		if (entry->valid && entry->type == type &&
		    !memcmp(entry->raw, raw, sizeof(entry->raw)))
			return true;
	}
	return false;
}

static bool has_address(const struct hca *hca, uint8_t raw[16])
{
	ipv4_gid(hca, raw);
	return has_gid(hca, raw, IB_UVERBS_GID_TYPE_ROCE_V1) ||
	       has_gid(hca, raw, IB_UVERBS_GID_TYPE_ROCE_V2);
}

int hca_address_remove(struct hca *hca)
{
	uint8_t raw[16];

	if (!has_address(hca, raw))
		return -EADDRNOTAVAIL;
	for (unsigned int i = 0; i < HCA_N_GIDS; i++) {
		const struct hca_gid *entry = &hca->gids[i];

		if (entry->valid && !memcmp(entry->raw, raw, sizeof(raw)))
			change_entry(hca, i, false);
	}
	return 0;
}

int hca_address_add(struct hca *hca)
{
	uint8_t raw[16];

	return has_address(hca, raw) ? -EEXIST : add_both(hca, raw);
}

struct hca_gid *hca_gid_at(struct hca *hca, unsigned int index)
{
	return index < HCA_N_GIDS && hca->gids[index].valid ? &hca->gids[index] : NULL;
}

struct hca *hca_at_gid(struct hca_net *net, const uint8_t gid[16], enum ib_uverbs_gid_type type)
{
	struct hca *hca;

	LIST_FOREACH (hca, &net->hcas, of_net) {
		if (has_gid(hca, gid, type))
			return hca;
	}
	return NULL;
}

void hca_link_set(struct hca *hca, bool up)
{
	if (hca->link_down == !up)
		return;
	hca->link_down = !up;
	publish(hca, PORT_FOLDER "state", up ? "4: ACTIVE" : "1: DOWN");
	tell_all(hca, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR);
}

int hca_check_address(struct hca *hca, const struct ibv_ah_attr *attr, bool global)
{
	static const uint8_t none[16];

	if (attr->port_num != HCA_PORT)
		return -EINVAL;
	if (!attr->is_global)
		return global ? -EINVAL : 0;
	if (!hca_gid_at(hca, attr->grh.sgid_index))
		return -EINVAL;
	return global && !memcmp(&attr->grh.dgid, none, sizeof(none)) ? -EINVAL : 0;
}

struct hca_gid *hca_gid_hold(struct hca *hca, const struct ibv_ah_attr *attr)
{
	struct hca_gid *gid = attr->is_global ? hca_gid_at(hca, attr->grh.sgid_index) : NULL;

	if (gid)
		gid->users++;
	return gid;
}

void hca_gid_release(struct hca_gid *gid)
{
	if (gid)
		gid->users--;
}

void hca_mac(unsigned int number, uint8_t mac[6])
{
	const uint8_t made[6] = {2, [5] = (uint8_t)number};

	memcpy(mac, made, sizeof(made));
}
