#include "preload/lease/rollback.h"

#include "base/base.h"
#include "cmdlog/command.h"
#include "cmdlog/record.h"
#include "preload/core/trace.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <sys/ioctl.h>

#define MAX_PLUGS 64 /* handles taken on the way to the one that is wanted */

/* A command of at most three attributes. */
struct small_command {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[3];
};

static int issue(int ufile, struct ib_uverbs_ioctl_hdr *cmd)
{
	return ioctl(ufile, RDMA_VERBS_IOCTL, cmd) < 0 ? errno : 0;
}

static int issue_small(int ufile, struct small_command *cmd, uint32_t driver_id)
{
	cmd->hdr.driver_id = driver_id;
	cmd->hdr.length = (uint16_t)(sizeof(cmd->hdr) + cmd->hdr.num_attrs * sizeof(cmd->attrs[0]));
	return issue(ufile, &cmd->hdr);
}

static int reset(int ufile, uint32_t driver_id, uint32_t qp_handle)
{
	struct ib_uverbs_modify_qp modify = {
	    .qp_handle = qp_handle,
	    .attr_mask = IBV_QP_STATE,
	    .qp_state = IBV_QPS_RESET,
	};
	struct small_command cmd = {
	    .hdr = {.object_id = UVERBS_OBJECT_DEVICE,
		    .method_id = UVERBS_METHOD_INVOKE_WRITE,
		    .num_attrs = 2},
	    .attrs = {{.attr_id = UVERBS_ATTR_WRITE_CMD,
		       .len = sizeof(uint64_t),
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = IB_USER_VERBS_CMD_MODIFY_QP},
		      {.attr_id = UVERBS_ATTR_CORE_IN,
		       .len = sizeof(modify),
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = (uintptr_t)&modify}},
	};

	return issue_small(ufile, &cmd, driver_id);
}

void wv_rollback_query(const struct ib_uverbs_ioctl_hdr *cmd)
{
	for (unsigned int i = 0; i < cmd->num_attrs; i++) {
		const struct ib_uverbs_attr *attr = &cmd->attrs[i];
		struct ib_uverbs_query_qp_resp *answer = (void *)(uintptr_t)attr->data;

		if (attr->attr_id != UVERBS_ATTR_CORE_OUT || attr->len < sizeof(*answer))
			continue;
		answer->qkey = 0;
		answer->qp_access_flags = 0;
		answer->pkey_index = 0;
		answer->port_num = 0;
	}
}

/* The ioctl that destroys what a step made. */
static const struct destroyer {
	uint16_t made_by_object, made_by_method;
	uint16_t object, method, handle_attr;
	uint16_t resp_attr, resp_bytes; /* of the answer that counts reported events, 0: none */
} destroyers[] = {
    {UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY,
     UVERBS_ATTR_DESTROY_QP_HANDLE, UVERBS_ATTR_DESTROY_QP_RESP,
     sizeof(struct ib_uverbs_destroy_qp_resp)},
    {UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_CREATE, UVERBS_OBJECT_SRQ, UVERBS_METHOD_SRQ_DESTROY,
     UVERBS_ATTR_DESTROY_SRQ_HANDLE, UVERBS_ATTR_DESTROY_SRQ_RESP,
     sizeof(struct ib_uverbs_destroy_srq_resp)},
    {UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY,
     UVERBS_ATTR_DESTROY_CQ_HANDLE, UVERBS_ATTR_DESTROY_CQ_RESP,
     sizeof(struct ib_uverbs_destroy_cq_resp)},
};

static const struct destroyer *destroyer_of(const struct wv_step *step)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(destroyers); i++)
		if (destroyers[i].made_by_object == step->object &&
		    destroyers[i].made_by_method == step->method)
			return &destroyers[i];
	return NULL;
}

static int destroy(int ufile, uint32_t driver_id, struct wv_step *step)
{
	const struct destroyer *d = destroyer_of(step);
	uint64_t start = wv_trace_now();
	uint64_t resp[2] = {0};
	struct small_command cmd;
	int err;

	if (!d)
		return -1;
	cmd = (struct small_command){
	    .hdr = {.object_id = d->object, .method_id = d->method, .num_attrs = 2},
	    .attrs = {{.attr_id = d->handle_attr,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = step->new_handle},
		      {.attr_id = d->resp_attr,
		       .len = d->resp_bytes,
		       .flags = UVERBS_ATTR_F_MANDATORY,
		       .data = (uintptr_t)resp}},
	};
	err = issue_small(ufile, &cmd, driver_id);
	wv_trace_rollback(start, WV_TRACE_PURGE, step->object, err);
	return err;
}

/* Destroys an unadopted object, and before it those that use it; how many went. */
static int purge_object(int ufile, struct wv_lease *lease, struct wv_step *step)
{
	int purged = wv_rollback_purge(ufile, lease, step->new_handle);

	wv_lease_kill_handle(lease, step->new_handle);
	step->state = WV_GONE;
	return purged + !destroy(ufile, lease->cmdlog->driver_id, step);
}

int wv_rollback_purge(int ufile, struct wv_lease *lease, uint32_t handle)
{
	int purged = 0;
	struct wv_step *user;

	while ((user = wv_lease_user(lease, handle)))
		purged += purge_object(ufile, lease, user);
	return purged;
}

void wv_rollback_rivals(int ufile, struct wv_lease *lease, const struct ib_uverbs_ioctl_hdr *cmd,
			const struct wv_command_row *row)
{
	struct wv_step *rival;

	while ((rival = wv_lease_rival(lease, cmd, row)))
		purge_object(ufile, lease, rival);
}

/* The step of @lease again, with the program's own user handle; what it made in *@made. */
static int again(int ufile, struct wv_lease *lease, struct wv_step *step, uint32_t *made)
{
	struct wv_command cmd;
	int err;

	wv_command_fill(&cmd, step, lease->cmdlog->driver_id, lease->fds, step->user_handle);
	err = issue(ufile, &cmd.hdr);
	if (!err && made)
		*made = wv_command_made(&cmd.hdr, wv_step_row(step), WV_NEW_HANDLE);
	return err;
}

static struct wv_step *creator(struct wv_lease *lease, uint32_t handle)
{
	wv_each_step (lease->cmdlog, step)
		if (step->new_handle == handle && step->state == WV_TAKEN)
			return step;
	return NULL;
}

static void destroy_all(int ufile, struct wv_lease *lease, struct wv_step *create,
			const uint32_t *handles, unsigned int n)
{
	struct wv_step like = *create;

	for (unsigned int i = 0; i < n; i++) {
		like.new_handle = handles[i];
		destroy(ufile, lease->cmdlog->driver_id, &like);
	}
}

/*
 * Makes the object of @create anew, under the handle that the program knows. The kernel gives the
 * lowest free one, so others may have to be taken first.
 */
static int remake(int ufile, struct wv_lease *lease, struct wv_step *create)
{
	uint32_t plugs[MAX_PLUGS], handle = WV_NONE;
	unsigned int n = 0;
	int err = destroy(ufile, lease->cmdlog->driver_id, create);

	while (!err && handle != create->new_handle && n < MAX_PLUGS) {
		err = again(ufile, lease, create, &handle);
		if (!err && handle != create->new_handle)
			plugs[n++] = handle;
	}
	destroy_all(ufile, lease, create, plugs, n);
	return err || handle == create->new_handle ? err : ENFILE;
}

int wv_rollback_moves(int ufile, struct wv_lease *lease, uint32_t qp_handle)
{
	const struct wv_ahead_row *ahead = wv_cmdlog_ahead(lease->cmdlog, qp_handle);
	struct wv_step *create = creator(lease, qp_handle);
	uint64_t start = wv_trace_now();
	int repeated = 0, err;

	if (ahead && !ahead->can_be_reset && create)
		err = remake(ufile, lease, create);
	else
		err = reset(ufile, lease->cmdlog->driver_id, qp_handle);
	wv_each_step (lease->cmdlog, step) {
		if (err || step->class_ != WV_MODIFY || step->state != WV_TAKEN ||
		    step->target != qp_handle)
			continue;
		err = again(ufile, lease, step, NULL);
		repeated++;
	}
	wv_trace_rollback(start, WV_TRACE_ROLLBACK, UVERBS_OBJECT_QP, err);
	return repeated;
}
