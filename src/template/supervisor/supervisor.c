/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/supervisor.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/pool/policy.h"
#include "template/supervisor/child_memory.h"
#include "template/supervisor/client_socket.h"
#include "template/supervisor/own_process.h"
#include "template/supervisor/starts.h"
#include "template/supervisor/template_process.h"
#include "template/supervisor/traced.h"

#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define SECOND_US INT64_C(1000000)
#define OLD_US	  (24 * 3600 * SECOND_US)
#define REST_US	  2000 /* before children are made: a fork takes time that a start may need */

struct supervisor {
	const struct wv_supervisor_options *options;
	sd_event *event;
	sd_event_source *control, *idle, *next; /* next: time to make children */
	struct wv_starts *starts;
	struct wv_template_process template;
	struct wv_demand demand;
	struct wv_children children;
	struct wv_child_memory memory;
	struct wv_client_socket socket;
	struct wv_traced traced;
	int64_t born_us;
	bool is_ready, ends;	    /* the template; this process, once the starts have ended */
	bool has_heard_all;	    /* from the template and its children, now that this one ends */
	bool is_hopeless;	    /* another template of the program would fare no better */
	struct wv_reason_text *why; /* there is no template, or none any more */
};

static int64_t idle_us(const struct supervisor *s)
{
	return s->options->idle_s * SECOND_US;
}

/* One that is used ends, too, once it is old: what it has found out may not be so any more. */
static void postpone_end(struct supervisor *s)
{
	int64_t idle = wv_now(s->event) + idle_us(s), old = s->born_us + OLD_US;

	wv_timer_arm(s->idle, idle < old ? idle : old);
}

static void end_if_done(struct supervisor *s)
{
	if (s->ends && s->has_heard_all && !wv_starts_number(s->starts))
		sd_event_exit(s->event, *s->why->text ? -ECANCELED : 0);
}

/* Who would start a template finds it. */
static const char *reason_for_others(const struct supervisor *s)
{
	return s->is_hopeless && s->options->is_named ? s->why->text : NULL;
}

/* Waiting children end, because nobody can connect any more; starts go on. */
static void stop(struct supervisor *s)
{
	if (!s->ends) {
		wv_client_socket_close(&s->socket, reason_for_others(s));
		if (s->template.pid)
			kill(s->template.pid, SIGKILL);
		/* A child that could say that it has become a start is one; no other can. */
		shutdown(s->template.control, SHUT_RD);
	}
	s->ends = true;
	end_if_done(s);
}

static void stop_because(struct supervisor *s, const char *why)
{
	if (!s->ends && !*s->why->text)
		wv_because(s->why, "%s", why);
	stop(s);
}

/* Another template of the program would fare no better. */
static void give_up(struct supervisor *s, const char *why)
{
	s->is_hopeless = true;
	stop_because(s, why);
}

static void give_up_program(struct supervisor *s, const char *what)
{
	struct wv_reason_text why;

	wv_template_because(&s->template, what, &why);
	give_up(s, why.text);
}

/* Clients are refused while there is no child, nor will be: they do not wait. */
static void refuse(const struct supervisor *s, bool none_is_made)
{
	wv_client_socket_refuse(&s->socket,
				none_is_made && !s->children.n && !s->children.is_making);
}

static void refill(struct supervisor *s)
{
	int64_t now = wv_now(s->event);
	uint32_t wanted = wv_demand_target(&s->demand, now, idle_us(s));
	uint32_t most = wv_child_memory_most(&s->memory, &s->children, s->options->memory,
					     s->options->most_ready);
	uint32_t target = wv_children_target(wanted, most, wv_starts_number(s->starts));

	if (!s->is_ready || s->ends)
		return;
	if (wv_children_suffice(&s->children, target))
		wv_demand_full(&s->demand, now);
	else
		wv_children_order(&s->children, s->template.control, target);
	if (s->children.n && !s->memory.bytes)
		wv_timer_hasten(s->next, now + REST_US);
	refuse(s, !target);
}

/* If fork(2) has failed, the next one would, too. */
static void refill_later(struct supervisor *s)
{
	bool failed = s->children.n_missing;

	wv_children_are_made(&s->children);
	if (!failed) {
		refill(s);
		return;
	}
	refuse(s, true);
	wv_timer_arm(s->next, wv_now(s->event) + SECOND_US);
}

static int on_next(sd_event_source *source, uint64_t due, void *data)
{
	(void)source;
	(void)due;
	refill(data);
	return 0;
}

static void take_start(struct supervisor *s, pid_t pid, int connection)
{
	const struct wv_claim claim = {.now_us = wv_now(s->event), .asked_us = wv_now(s->event)};

	if (!wv_children_start(&s->children, pid)) {
		close(connection);
		return;
	}
	if (wv_starts_add(s->starts, pid, connection) < 0)
		kill(pid, SIGKILL); /* nobody would learn how it ends */
	wv_demand_claim(&s->demand, &claim, idle_us(s));
	postpone_end(s);
	if (s->children.n)
		wv_timer_arm(s->next, claim.now_us + REST_US);
	else
		refill(s);
}

static void become_ready(struct supervisor *s)
{
	int err = wv_client_socket_open(&s->socket);

	if (err) {
		stop_because(s, strerror(-err));
		return;
	}
	s->is_ready = true;
	s->born_us = wv_now(s->event);
	postpone_end(s);
	refill(s);
}

static void hear(struct supervisor *s, const struct wv_control *c, int fd)
{
	switch (c->word) {
	case WV_CONTROL_READY:
		become_ready(s);
		break;
	case WV_CONTROL_CANNOT:
		give_up(s, c->why.text);
		break;
	case WV_CONTROL_MADE:
		wv_children_add(&s->children, c->value);
		break;
	case WV_CONTROL_DONE:
		refill_later(s);
		break;
	case WV_CONTROL_STARTED:
		if (fd >= 0)
			take_start(s, c->value, fd);
		return;
	default:
		break;
	}
	wv_close_fd(&fd);
}

static void receive_all(struct supervisor *s)
{
	struct wv_control c;
	int fd;

	while (wv_template_hear(&s->template, &c, &fd))
		hear(s, &c, fd);
}

static int on_control(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct supervisor *s = data;

	(void)fd;
	receive_all(s);
	if (s->ends || events & EPOLLHUP) {
		sd_event_source_set_enabled(source, SD_EVENT_OFF);
		s->has_heard_all = true;
		end_if_done(s);
	}
	return 0;
}

static int on_change(sd_event_source *source, int fd, uint32_t events, void *data)
{
	(void)fd;
	(void)events;
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	stop(data);
	return 0;
}

static void give_up_late_program(struct supervisor *s)
{
	struct wv_reason_text what;

	receive_all(s); /* where everything stood still, it may have been in time */
	wv_because(&what, "it has not come to its stop point within %u s", s->options->idle_s);
	if (!s->is_ready)
		give_up_program(s, what.text);
}

static int on_idle(sd_event_source *source, uint64_t due, void *data)
{
	struct supervisor *s = data;

	(void)source;
	(void)due;
	if (s->is_ready)
		stop(s);
	else
		give_up_late_program(s);
	return 0;
}

/* Returns the pid of a child that has ended, or 0. */
static pid_t reap_one(struct supervisor *s, int *status)
{
	pid_t pid = wv_traced_next_end(&s->traced);

	if (!pid)
		return 0;
	receive_all(s); /* what it has said, it said before it ended */
	return waitpid(pid, status, 0);
}

static void child_has_ended(struct supervisor *s, pid_t pid, int status)
{
	if (wv_children_end(&s->children, pid, status)) /* false for an orphan of a start, too */
		give_up(s, "its children end before they are asked for a start");
}

static void template_has_ended(struct supervisor *s)
{
	s->template.pid = 0;
	if (s->is_ready)
		stop(s);
	else
		give_up_program(s, "it has ended before its stop point");
}

static int on_child(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	struct supervisor *s = data;
	int status;
	pid_t pid;

	(void)source;
	(void)info;
	while ((pid = reap_one(s, &status)) > 0) {
		if (pid == s->template.pid)
			template_has_ended(s);
		else if (!wv_starts_end(s->starts, pid, status))
			child_has_ended(s, pid, status);
	}
	wv_traced_let_go(&s->traced);
	wv_timer_hasten(s->next, wv_now(s->event) + REST_US); /* ends may never cease */
	end_if_done(s);
	return 0;
}

static int on_end(sd_event_source *source, const struct signalfd_siginfo *info, void *data)
{
	struct supervisor *s = data;

	(void)source;
	(void)info;
	if (s->is_ready)
		stop(s);
	else
		stop_because(s, "it was told to end before it was ready");
	return 0;
}

static int add_signals(struct supervisor *s)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
	int err = sd_event_add_signal(s->event, NULL, SIGCHLD, on_child, s);

	for (size_t i = 0; i < WV_ARRAY_SIZE(ends) && err >= 0; i++)
		err = sd_event_add_signal(s->event, NULL, ends[i], on_end, s);
	return err;
}

static int add_sources(struct supervisor *s)
{
	int err = add_signals(s);

	if (err >= 0)
		err = sd_event_add_io(s->event, &s->control, s->template.control, EPOLLIN,
				      on_control, s);
	if (err >= 0)
		err = sd_event_add_io(s->event, NULL, s->template.changes, EPOLLIN, on_change, s);
	if (err >= 0)
		err = wv_client_socket_watch(&s->socket, s->event);
	if (err >= 0)
		err = wv_timer_add(s->event, WV_PRIORITY_CLIENTS, 0, on_idle, s, &s->idle);
	if (err >= 0)
		err = wv_timer_add(s->event, WV_PRIORITY_CLIENTS, REST_US, on_next, s, &s->next);
	return err;
}

static int begin(struct supervisor *s)
{
	/* Before the template is a child, which may end at once. */
	int err = wv_own_process_prepare(&s->template.files);

	if (err)
		return err;
	s->template.listener = s->socket.fd;
	err = wv_template_spawn(&s->template, &s->options->program, s->why);
	s->is_hopeless = err != 0;
	return err;
}

static int run(struct supervisor *s)
{
	int err = wv_client_socket_bind(&s->socket, s->options->socket);

	if (!err)
		err = begin(s);
	if (!err)
		err = sd_event_default(&s->event);
	if (err >= 0)
		err = wv_starts_new(s->event, &s->starts);
	if (err >= 0)
		err = add_sources(s);
	if (err >= 0 && chdir("/")) /* it holds no folder of who started it */
		err = -errno;
	if (err < 0)
		return err;
	s->born_us = wv_now(s->event);
	postpone_end(s); /* it has as long to come to its stop point */
	wv_demand_init(&s->demand, s->born_us);
	return sd_event_loop(s->event);
}

int wv_supervise_template(const struct wv_supervisor_options *options, struct wv_reason_text *why)
{
	struct supervisor s = {.options = options, .why = why, .socket = {.fd = -1, .note.fd = -1}};
	int err = run(&s);

	if (err < 0 && !*why->text)
		wv_because(why, "%s", strerror(-err));
	wv_client_socket_close(&s.socket, reason_for_others(&s));
	wv_starts_free(s.starts);
	wv_traced_free(&s.traced);
	sd_event_source_unref(s.control);
	sd_event_source_unref(s.idle);
	sd_event_source_unref(s.next);
	sd_event_unref(s.event);
	return err;
}
