/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/lease/control_path.h"

#include "abi/compose.h"
#include "abi/data_path.h"
#include "abi/qp.h"
#include "base/bits.h"
#include "cmdlog/command.h"
#include "cmdlog/qp_steps.h"
#include "cmdlog/record.h"
#include "preload/client/lease_request.h"
#include "preload/core/context.h"
#include "preload/core/counters.h"
#include "preload/core/passage.h"
#include "preload/core/scope.h"
#include "preload/core/trace.h"
#include "preload/lease/lease_end.h"
#include "preload/lease/news.h"
#include "preload/lease/rollback.h"
#include "preload/pairs/connections.h"
#include "preload/pairs/paired.h"

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

static int issue(int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	return ioctl(fd, RDMA_VERBS_IOCTL, cmd);
}

/* The step that answers the command, or NULL. Call with the lock held. */
static struct wv_step *claim(struct wv_context *c, struct wv_passage *p)
{
	if (c->pair.id)
		return wv_paired_claim(p);
	if (c->mode != WV_LEASED)
		return c->constants ? wv_lease_claim(c->constants, p->cmd, p->write_cmd) : NULL;
	return wv_context_is_followed(c) ? wv_lease_claim(&c->lease, p->cmd, p->write_cmd) : NULL;
}

/* The program has connected the pair's queue pair as it was. Call with the lock held. */
static void connected_as_it_was(struct wv_context *c)
{
	c->qps->progress.told = true;
	wv_news_gather(c);
	wv_news_ready(c);
}

/* @step of the lease answers the command. Call with the lock held. */
static void take(const struct wv_passage *p, struct wv_step *step)
{
	struct wv_context *c = p->context;

	c->report.adopted++;
	if (wv_abi_creates(wv_step_row(step), UVERBS_OBJECT_DEVICE))
		wv_fd_close_private(&c->node); /* the program uses the context of the lease */
	if (p->used)
		connected_as_it_was(c);
}

/* Whether @step moves the queue pair of a pair to RTR or RTS. */
static bool is_of_pair(const struct wv_context *c, struct wv_step *step)
{
	return c->pair.came && step->class_ == WV_MODIFY && step->target == c->pair.qp &&
	       wv_step_qp_state(step) > IBV_QPS_INIT;
}

/* The result of ioctl(), as @step of the lease has it. */
static int result_of(const struct wv_passage *p, struct wv_step *step)
{
	wv_count(&wv_counters.commands_adopted);
	wv_trace_command(p->start, p->cmd, p->write_cmd,
			 is_of_pair(p->context, step) ? WV_HOW_PAIR : WV_HOW_ADOPTED, step->error,
			 (struct wv_difference){.why = WV_WHY_NONE});
	if (step->error)
		errno = step->error;
	return step->error ? -1 : 0;
}

static void tell_in_time(const struct wv_passage *p)
{
	if (p->connects)
		wv_news_gather(p->context);
	else if (!(p->row && p->row->class_ == WV_QUERY))
		wv_news_tell(p->context);
}

static bool is_put_back(const struct wv_context *c, uint32_t handle)
{
	return handle < WV_CMDLOG_MAX_STEPS && wv_bit(c->qps->put_back, handle);
}

static void set_put_back(struct wv_context *c, uint32_t handle, bool value)
{
	if (handle < WV_CMDLOG_MAX_STEPS)
		wv_set_bit(c->qps->put_back, handle, value);
}

/* Puts the QP back to the state of the adopted moves: RESET if there were none. */
static void put_back(struct wv_passage *p)
{
	struct wv_context *c = p->context;
	bool is_paired = c->pair.id && p->target == c->pair.qp;

	set_put_back(
	    c, p->target,
	    wv_rollback_moves(p->fd, &c->lease, p->target, is_paired ? &c->pair.ring : NULL));
}

/*
 * Nothing more is adopted from the lease. A program with more capabilities than the daemon may need
 * a ufile of its own for what it does now, so the next program like it gets no lease.
 */
static void stop_following(struct wv_passage *p)
{
	p->context->stopped = true;
	if (p->row && wv_has_raw_capabilities())
		wv_lease_request_retract(p->context->ufile, p->context->open_number);
}

/* Undoes what the lease did ahead, where the command could tell. */
static void undo(struct wv_passage *p)
{
	struct wv_context *c = p->context;

	if (p->row && wv_abi_creates(p->row, UVERBS_OBJECT_DEVICE))
		wv_lease_give_back(c, p->fd);
	else if (!p->row || p->row->class_ == WV_PRIVILEGED)
		stop_following(p);
	else if (p->row->class_ == WV_DESTROY)
		wv_lease_kill_handle(&c->lease, p->target);
	else if (p->hides)
		;
	else if (p->target != WV_NONE && wv_lease_kill_moves(&c->lease, p->target))
		put_back(p);
	else
		wv_rollback_rivals(p->fd, &c->lease, p->cmd, p->row);
}

/*
 * Whether the context is to be changed once the kernel has executed the command. Most programs pay
 * for the lock once. Call with the lock held.
 */
static bool is_awaited(const struct wv_passage *p)
{
	struct wv_context *c = p->context;

	if (p->undecided || c->pair.id || (wv_passage_makes_ready(p) && wv_news_awaits_ready(c)))
		return true;
	return c->mode == WV_LEASED &&
	       (is_put_back(c, p->target) || (p->state >= 0 && wv_connections_are_awaited(c)));
}

/*
 * The kernel is about to execute the command. Returns why it was not adopted. Call with the lock
 * held.
 */
static struct wv_difference before_kernel(struct wv_passage *p)
{
	struct wv_difference d = wv_passage_why_not(p);

	tell_in_time(p);
	if (p->context->mode == WV_LEASED) {
		wv_passage_count(p, d);
		undo(p);
		wv_passage_note_move(p);
	}
	p->awaited = is_awaited(p);
	return d;
}

static bool is_busy(const struct wv_passage *p, int result)
{
	return result < 0 && errno == EBUSY && p->context->mode == WV_LEASED && p->row &&
	       p->row->class_ == WV_DESTROY;
}

/* The kernel has executed a command on a QP that may have been put back before. */
static void note_done(const struct wv_passage *p)
{
	struct wv_context *c = p->context;

	if ((p->state >= 0 || p->row->class_ == WV_DESTROY) && wv_connections_are_awaited(c))
		wv_connections_note(p);
	if (!is_put_back(c, p->target))
		;
	else if (p->row->class_ == WV_QUERY)
		wv_qp_hide_ioctl(p->cmd);
	else if (p->row->class_ == WV_DESTROY || p->state > IBV_QPS_RESET)
		set_put_back(c, p->target, false);
}

/*
 * The kernel has executed the command, which was not adopted for the reason @d, or refused it with
 * @error. What a lease still has could be adopted, but nothing works on a device that is gone.
 */
static void after_kernel(const struct wv_passage *p, struct wv_difference d, int error)
{
	struct wv_context *c = p->context;
	int saved = errno;

	if (!p->awaited && error != EIO)
		return;
	wv_lock();
	if (p->undecided && c->mode == WV_LEASED)
		wv_passage_decide(p, d, error);
	if (error == EIO)
		c->stopped = c->removed = true;
	else if (!error && c->mode == WV_LEASED && p->target != WV_NONE)
		note_done(p);
	if (c->pair.id && p->row && p->target == c->pair.qp)
		wv_paired_after_kernel(p, error);
	if (wv_passage_makes_ready(p))
		wv_news_ready(c);
	wv_unlock();
	errno = saved;
}

/* The kernel executes a command that is not adopted for the reason @d. */
static int ask_kernel(struct wv_passage *p, struct wv_difference d)
{
	int result, error;
	int saved = errno;

	wv_count(&wv_counters.commands_kernel);
	result = p->meets ? wv_paired_issue(p) : issue(p->fd, p->cmd);
	if (is_busy(p, result)) {
		wv_lock();
		wv_rollback_purge(p->fd, &p->context->lease, p->target);
		wv_unlock();
		errno = saved;
		/* Also if nothing was left to destroy: another thread may just have done it. */
		result = issue(p->fd, p->cmd);
	}
	error = result < 0 ? errno : 0;
	after_kernel(p, d, error);
	wv_trace_command(p->start, p->cmd, p->write_cmd, WV_HOW_KERNEL, error, d);
	return result;
}

/* Answers from the lease, or else asks the kernel. */
static int adopt(struct wv_passage *p)
{
	struct wv_difference d = {.why = WV_WHY_NONE};
	struct wv_step *step;
	int saved = errno;

	wv_lock();
	step = claim(p->context, p);
	if (step) {
		take(p, step);
	} else {
		wv_passage_look(p);
		d = before_kernel(p);
	}
	wv_unlock();
	errno = saved;
	return step ? result_of(p, step) : ask_kernel(p, d);
}

/* Call with the lock held. */
static bool is_recorded(const struct wv_passage *p)
{
	if (!wv_context_is_followed(p->context) || p->connects)
		return false;
	if (!p->row)
		return true;
	switch (p->row->class_) {
	case WV_PASS:
	case WV_DATA:
		return false;
	case WV_OPENING:
		return p->context->opening;
	case WV_REGISTER:
		return p->alloc_mr;
	default:
		return true;
	}
}

/*
 * Whether this is a privileged command of a program without the capabilities. It ends a recording,
 * as an unknown command does.
 */
static bool is_foreign(const struct wv_passage *p)
{
	return p->row && p->row->class_ == WV_PRIVILEGED && !wv_has_raw_capabilities();
}

/* Answers with a known constant, or else asks the kernel. Returns 0 or an errno value. */
static int answer(struct wv_passage *p)
{
	struct wv_step *known = claim(p->context, p);

	wv_count(known ? &wv_counters.commands_adopted : &wv_counters.commands_kernel);
	if (known)
		return known->error;
	return issue(p->fd, p->cmd) < 0 ? errno : 0;
}

static void keep_answer(const struct wv_passage *p, int error)
{
	struct wv_context *c = p->context;

	wv_record_answer(&c->record, p->cmd, p->row, error);
	wv_news_recorded(c, p->row, error);
	if (wv_passage_makes_ready(p) && !error)
		wv_news_ready(c);
}

/* Records a command, with the lock held: threads take turns, in a program's first run only. */
static int record(struct wv_passage *p)
{
	struct wv_context *c = p->context;
	struct wv_difference d;
	int saved = errno, error;

	wv_lock();
	wv_passage_look(p);
	if (!is_recorded(p)) {
		d = before_kernel(p);
		wv_unlock();
		errno = saved;
		return ask_kernel(p, d);
	}
	if (!c->record.cmdlog->n_steps)
		c->record.cmdlog->driver_id = p->cmd->driver_id;
	if (is_foreign(p) || wv_news_is_enough(c) ||
	    wv_record_command(&c->record, p->cmd, p->row, c->allocations) == WV_UNKNOWN)
		c->stopped = true;
	error = answer(p);
	if (!c->stopped)
		keep_answer(p, error);
	c->removed |= error == EIO;
	wv_unlock();
	wv_trace_command(p->start, p->cmd, p->write_cmd, WV_HOW_RECORDED, error,
			 wv_passage_why_not(p));
	errno = error ? error : errno;
	return error ? -1 : 0;
}

/* For the doorbell of a forked child: that is a write(), which does not name the driver. */
static void note_driver(struct wv_context *c, const struct ib_uverbs_ioctl_hdr *cmd)
{
	if (!__atomic_load_n(&c->driver_id, __ATOMIC_RELAXED))
		__atomic_store_n(&c->driver_id, cmd->driver_id, __ATOMIC_RELAXED);
}

/*
 * The objects belong to another process now. The provider of this process destroys them, and
 * nothing may happen to them in the kernel.
 */
static int pretend(struct wv_passage *p)
{
	wv_passage_identify(p);
	if (p->row)
		wv_answer_empty(p->cmd, p->row);
	return 0;
}

int wv_control_path(struct wv_context *context, int fd, struct ib_uverbs_ioctl_hdr *cmd)
{
	struct wv_passage p = {
	    .context = context,
	    .fd = fd,
	    .cmd = cmd,
	    .write_cmd = wv_abi_write_cmd(cmd),
	    .why = wv_scope.why,
	    .alloc_mr = wv_scope.alloc_mr,
	};

	wv_scope.ring = NULL; /* the provider has mapped what the last command made */
	note_driver(p.context, cmd);
	if (p.context->mode == WV_ABANDONED)
		return pretend(&p);
	if (wv_is_data_path(p.write_cmd))
		return issue(fd, cmd);
	p.start = wv_trace_now();
	if (p.context->mode == WV_PLAIN && !p.start && !p.context->constants) {
		wv_count(&wv_counters.commands_kernel);
		return issue(fd, cmd);
	}
	return p.context->mode == WV_RECORDING ? record(&p) : adopt(&p);
}
