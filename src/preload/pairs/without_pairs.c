/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A build without pairs has this in place of them: no daemon wants any, and no lease comes with
 * one.
 */
#include "preload/pairs/connections.h"
#include "preload/pairs/keeper.h"
#include "preload/pairs/keeper_sock.h"
#include "preload/pairs/paired.h"
#include "preload/pairs/partner.h"
#include "preload/pairs/requests.h"
#include "preload/pairs/server_end.h"

/* An answer that is always the same depends on no argument. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* NOLINTBEGIN(misc-unused-parameters) */

bool wv_paired_fits(struct wv_cmdlog *lease, const struct wv_lease_pair *pair)
{
	return !pair->pair;
}

void wv_paired_begin(struct wv_context *c, const struct wv_lease_pair *pair, int sock)
{
}

struct wv_step *wv_paired_claim(struct wv_passage *p)
{
	return NULL;
}

int wv_paired_issue(const struct wv_passage *p)
{
	return -1;
}

void wv_paired_after_kernel(const struct wv_passage *p, bool failed)
{
}

void wv_connections_begin(struct wv_context *c, uint32_t flags)
{
}

bool wv_connections_are_awaited(const struct wv_context *c)
{
	return false;
}

void wv_connections_note(const struct wv_passage *p)
{
}

bool wv_partner_is_named(const struct wv_young_qp *y, const struct ibv_qp_attr *attr, int mask)
{
	return false;
}

uint16_t wv_partner_set_psns(const struct wv_young_qp *y, struct ibv_qp_attr *attr, int mask)
{
	return 0;
}

void wv_partner_note_move(struct wv_young_qp *y, const struct wv_young_qp *was,
			  const struct ibv_qp_attr *attr, int mask)
{
	wv_young_enter(y, WV_YOUNG_NONE);
}

void wv_partner_note_elsewhere(struct wv_young_qp *y)
{
	wv_young_enter(y, WV_YOUNG_NONE);
}

void wv_partner_leave(struct wv_young_qp *y, enum wv_pair_why why)
{
}

void wv_keeper_start(struct wv_worker *maker)
{
}

void wv_keeper_sock_forked(void)
{
}

bool wv_server_end_look(void)
{
	return false;
}

bool wv_server_end_withdraw(const void *object)
{
	return false;
}

void wv_requests_note(const struct rdma_cm_event *event)
{
}

void wv_request_begin(const struct rdma_cm_id *id)
{
}

void wv_request_end(void)
{
}

const struct wv_qp_peer *wv_request_current(void)
{
	static const struct wv_qp_peer none;

	return &none;
}

struct wv_young_qp *wv_request_take(const struct wv_qp_key *key)
{
	return NULL;
}

void wv_requests_forget(void)
{
}
/* NOLINTEND(misc-unused-parameters) */
