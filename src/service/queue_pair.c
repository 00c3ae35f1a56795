/* SPDX-License-Identifier: BSD-2-Clause */
#include "service/queue_pair.h"

#include "base/base.h"
#include "base/clock.h"
#include "base/random.h"

#include <errno.h>

#define MOST_READS 16 /* that anybody asks for at a time */

/* What librdmacm and perftest use: 67 ms until a packet is sent again, seven times. */
#define TIMEOUT	      14
#define RETRIES	      7
#define RETRY_FOREVER 7	 /* where the other side has no receive yet */
#define RNR_TIMER     12 /* 0.64 ms: ibv_modify_qp(3) */
#define HOPS	      64

/*
 * What programs ask once, and connections would ask each time, which can take commands of the
 * firmware. If the port changes meanwhile, it does so for connections that exist, too.
 */
#define KNOWN_MS 1000

struct known {
	char device[IBV_SYSFS_NAME_MAX]; /* "": nothing is known */
	int64_t until_ms;
	uint8_t answered, asked;
	struct wv_service_port port;
};

static uint8_t at_most(int limit)
{
	return limit < MOST_READS ? (uint8_t)limit : MOST_READS;
}

static int learn(struct known *known, struct ibv_context *context, uint8_t port)
{
	struct ibv_device_attr device;
	int err = ibv_query_device(context, &device);

	*known->device = '\0';
	if (err)
		return -err;
	known->answered = at_most(device.max_qp_rd_atom);
	known->asked = at_most(device.max_qp_init_rd_atom);
	err = wv_service_port_init(context, port, &known->port);
	if (err)
		return err;
	strcpy(known->device, ibv_get_device_name(context->device));
	known->until_ms = (int64_t)wv_clock_ms() + KNOWN_MS;
	return 0;
}

static int know(struct known *known, struct ibv_context *context, uint8_t port)
{
	bool is_known = !strcmp(known->device, ibv_get_device_name(context->device)) &&
			known->port.number == port && (int64_t)wv_clock_ms() < known->until_ms;

	return is_known ? 0 : learn(known, context, port);
}

int wv_service_shape_init(struct wv_service_shape *shape, struct ibv_pd *pd,
			  const struct ibv_qp_init_attr *qp, int access, uint8_t port)
{
	static __thread struct known known; /* without a lock */
	int err;

	if (!pd || !qp || qp->qp_type != IBV_QPT_RC || !qp->send_cq || !qp->recv_cq)
		return -EINVAL;
	err = know(&known, pd->context, port ? port : 1);
	if (err)
		return err;
	*shape = (struct wv_service_shape){
	    .pd = pd,
	    .qp = *qp,
	    .access = access,
	    .answered = known.answered,
	    .asked = known.asked,
	    .port = known.port,
	};
	return 0;
}

int wv_service_qp_new(const struct wv_service_shape *shape, struct ibv_qp **qp)
{
	struct ibv_qp_init_attr init = shape->qp; /* the verb writes into it */
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_INIT,
	    .port_num = shape->port.number,
	    .qp_access_flags = (unsigned int)shape->access,
	};
	int err;

	errno = 0;
	*qp = ibv_create_qp(shape->pd, &init);
	if (!*qp)
		return errno ? -errno : -ENOMEM;
	err = ibv_modify_qp(*qp, &attr,
			    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	if (err) {
		ibv_destroy_qp(*qp);
		*qp = NULL;
	}
	return -err;
}

void wv_service_qp_describe(const struct ibv_qp *qp, const struct wv_service_shape *shape,
			    const struct wv_service_port *port, struct wv_service_qp *own)
{
	*own = (struct wv_service_qp){
	    .qp_num = qp->qp_num,
	    .psn = wv_random_number() & WV_PAIR_MAX_24BIT,
	    .lid = port->lid,
	    .mtu = port->mtu,
	    .reads = shape->answered,
	};
	memcpy(own->gid, &port->gid, sizeof(own->gid));
}

static struct ibv_ah_attr address(const struct wv_service_port *port,
				  const struct wv_service_qp *peer)
{
	struct ibv_ah_attr ah = {
	    .dlid = peer->lid, .port_num = port->number, .is_global = port->is_ethernet};

	if (!ah.is_global)
		return ah;
	ah.grh.sgid_index = port->gid_index;
	ah.grh.hop_limit = HOPS;
	memcpy(&ah.grh.dgid, peer->gid, sizeof(peer->gid));
	return ah;
}

int wv_service_qp_rtr(struct ibv_qp *qp, const struct wv_service_port *port,
		      const struct wv_service_qp *own, const struct wv_service_qp *peer)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTR,
	    .path_mtu = peer->mtu < port->mtu ? peer->mtu : port->mtu,
	    .dest_qp_num = peer->qp_num,
	    .rq_psn = peer->psn,
	    .max_dest_rd_atomic = own->reads,
	    .min_rnr_timer = RNR_TIMER,
	    .ah_attr = address(port, peer),
	};

	return -ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

int wv_service_qp_rts(struct ibv_qp *qp, const struct wv_service_shape *shape,
		      const struct wv_service_qp *own, const struct wv_service_qp *peer)
{
	struct ibv_qp_attr attr = {
	    .qp_state = IBV_QPS_RTS,
	    .sq_psn = own->psn,
	    .max_rd_atomic = peer->reads < shape->asked ? peer->reads : shape->asked,
	    .timeout = TIMEOUT,
	    .retry_cnt = RETRIES,
	    .rnr_retry = RETRY_FOREVER,
	};

	return -ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
				  IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
}
