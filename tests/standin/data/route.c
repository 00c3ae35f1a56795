/* SPDX-License-Identifier: BSD-2-Clause */
#include "route.h"

#include <string.h>

#define QKEY_OWN (1u << 31) /* send with the queue pair's own key instead of the request's */

static bool receives(const struct hca_qp *qp)
{
	return qp->state == IBV_QPS_RTR || qp->state == IBV_QPS_RTS || qp->state == IBV_QPS_SQD ||
	       qp->state == IBV_QPS_SQE;
}

static bool is_address(const struct hca_gid *gid, const union ibv_gid *address)
{
	return gid && gid->valid && !memcmp(gid->raw, address->raw, sizeof(gid->raw));
}

/*
 * What the adapter compares with what the queue pair was told. The packets of a connection don't
 * name the sender's queue pair.
 */
static bool is_connected(const struct hca_qp *from, const struct hca_qp *peer)
{
	return peer->type == from->type && is_address(from->gid, &peer->attr.ah.grh.dgid) &&
	       is_address(peer->gid, &from->attr.ah.grh.dgid);
}

static bool may_send_datagram(const struct message *msg, const struct hca_qp *peer)
{
	uint32_t qkey = msg->wqe->to.qkey & QKEY_OWN ? msg->from->attr.qkey : msg->wqe->to.qkey;

	return peer->type == HCA_UD && peer->attr.qkey == qkey;
}

static bool may_connect_dc(const struct message *msg, const struct hca_qp *peer)
{
	return peer->type == HCA_DCT && peer->attr.dc_key == msg->wqe->to.dc_key;
}

static bool has_connection(const struct hca_qp *qp)
{
	return qp->type == HCA_RC || qp->type == HCA_UC;
}

/* The adapter that has the address. NULL if there is no way to one. */
static struct hca *find_hca(const struct message *msg)
{
	const struct hca_qp *from = msg->from;
	const struct wqe_address *to = &msg->wqe->to;
	bool connected = has_connection(from);
	const struct hca_gid *own = connected ? from->gid : hca_gid_at(msg->hca, to->sgid_index);
	const uint8_t *dgid = connected ? from->attr.ah.grh.dgid.raw : to->dgid;
	struct hca *hca = own && own->valid ? hca_at_gid(msg->hca->net, dgid, own->type) : NULL;

	return hca && (hca == msg->hca || !(hca->link_down || msg->hca->link_down)) ? hca : NULL;
}

static struct hca_qp *find_peer(struct hca *hca, const struct message *msg)
{
	const struct hca_qp *from = msg->from;
	struct hca_qp *peer =
	    hca_qp_at(hca, has_connection(from) ? from->attr.dest_qpn : msg->wqe->to.qpn);
	bool wanted;

	if (!peer || !receives(peer))
		return NULL;
	if (has_connection(from))
		wanted = is_connected(from, peer);
	else
		wanted =
		    from->type == HCA_UD ? may_send_datagram(msg, peer) : may_connect_dc(msg, peer);
	return wanted ? peer : NULL;
}

struct hca_qp *route_find(const struct message *msg, struct hca **hca)
{
	*hca = find_hca(msg);
	return *hca ? find_peer(*hca, msg) : NULL;
}

bool route_hears(const struct hca_qp *from, const struct hca_qp *peer)
{
	return peer->type != HCA_RC || peer->attr.dest_qpn == from->qpn;
}
