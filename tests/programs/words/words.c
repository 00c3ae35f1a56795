/* SPDX-License-Identifier: BSD-2-Clause */
#include "words.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char line[1024];

void say(const char *format, ...)
{
	size_t used = strlen(line);
	va_list args;

	va_start(args, format);
	vsnprintf(line + used, sizeof(line) - used, format, args);
	va_end(args);
}

/* Points to the option's value or end, or NULL. */
static const char *find(struct options o, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = o.text; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, length) && strchr("=,", at[length]))
			return at + length;
	}
	return NULL;
}

long option(struct options o, const char *name, long otherwise)
{
	const char *at = find(o, name);

	return at && *at == '=' ? strtol(at + 1, NULL, 0) : otherwise;
}

bool has(struct options o, const char *name)
{
	return find(o, name);
}

struct qp *chosen_qp(struct program *p, struct options o)
{
	return &p->qps[option(o, "qp", (long)p->n_qps - 1)];
}

/* Tells the test that the program is here, and waits for its answer. */
static int do_at(struct program *p, struct options o)
{
	char answer[16];

	(void)p;
	printf("@%s\n", o.text);
	fflush(stdout);
	return read(STDIN_FILENO, answer, sizeof(answer)) > 0 ? 0 : EPIPE;
}

static int do_exit(struct program *p, struct options o)
{
	(void)p;
	fflush(stdout);
	_exit((int)option(o, "status", 0));
}

/* The object that must exist before a word is done. */
enum need { NOTHING, CONTEXT, PD, CQ, QP };

static const struct {
	const char *name;
	word_fn run;
	enum need need;
} words[] = {
    {"at", do_at, NOTHING},
    {"exit", do_exit, NOTHING},
    {"fork", do_fork, NOTHING},
    {"fork-init", do_fork_init, NOTHING},
    {"keeper", do_keeper, PD},
    {"turn", do_turn, NOTHING},
    {"cpuinfo", do_cpuinfo, NOTHING},
    {"longer", do_longer, NOTHING},
    {"silent", do_silent, NOTHING},
    {"spoken", do_spoken, NOTHING},
    {"closefrom", do_closefrom, NOTHING},
    {"daemon", do_daemon, NOTHING},
    {"exec", do_exec, NOTHING},
    {"crash", do_crash, NOTHING},
    {"look", do_look, NOTHING},
    {"compare", do_compare, NOTHING},
    {"vfork", do_vfork, CONTEXT},
    {"spawn", do_spawn, CONTEXT},
    {"clearenv", do_clearenv, NOTHING},
    {"title", do_title, NOTHING},
    {"timer", do_timer, NOTHING},
    {"chroot", do_chroot, NOTHING},
    {"setuid", do_setuid, NOTHING},
    {"seccomp", do_seccomp, NOTHING},
    {"seal", do_seal, NOTHING},
    {"capset", do_capset, NOTHING},
    {"unshare", do_unshare, NOTHING},
    {"thread", do_idle_thread, NOTHING},
    {"leave", do_leave, NOTHING},
    {"rest", do_doze, NOTHING},
    {"descriptors", do_descriptors, NOTHING},
    {"limit", do_limit, NOTHING},
    {"stdout", do_stdout, NOTHING},
    {"raw-close", do_raw_close, NOTHING},
    {"pairs", do_pairs, NOTHING},
    {"list", do_list, NOTHING},
    {"open", do_open, NOTHING},
    {"close", do_close, CONTEXT},
    {"attributes", do_attributes, CONTEXT},
    {"allocators", do_allocators, CONTEXT},
    {"devx", do_devx, CONTEXT},
    {"channel", do_channel, CONTEXT},
    {"cq", do_cq, CONTEXT},
    {"pd", do_pd, CONTEXT},
    {"parent", do_parent, PD},
    {"mr", do_mr, PD},
    {"buffer", do_buffer, PD},
    {"send", do_send, QP},
    {"receive", do_receive, QP},
    {"see", do_see, QP},
    {"address", do_address, QP},
    {"meet", do_meet, QP},
    {"post", do_post, QP},
    {"await", do_await, QP},
    {"arrived", do_arrived, QP},
    {"srq", do_srq, PD},
    {"resize", do_resize, CQ},
    {"qp", do_qp, CQ},
    {"destroy", do_destroy, PD},
    {"move", do_move, QP},
    {"query", do_query, QP},
    {"traffic", do_traffic, QP},
    {"receives", do_receives, QP},
    {"push", do_push, QP},
    {"pull", do_pull, QP},
    {"listen", do_listen, NOTHING},
    {"async", do_async, QP},
    {"flow", do_flow, QP},
};

static bool is_there(const struct program *p, enum need need)
{
	const bool there[] = {
	    [NOTHING] = true, [CONTEXT] = p->context, [PD] = p->pd,
	    [CQ] = p->n_cqs,  [QP] = p->n_qps,
	};

	return there[need];
}

/* 0 or an errno, as the word's line says. */
static int do_word(struct program *p, const char *word)
{
	size_t length = strcspn(word, ":");
	struct options o = {word[length] ? word + length + 1 : ""};
	int error = -1;

	line[0] = '\0';
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strlen(words[i].name) == length && !strncmp(words[i].name, word, length))
			error = is_there(p, words[i].need) ? words[i].run(p, o) : ENOENT;
	if (error < 0) {
		fprintf(stderr, "no such word: %s\n", word);
		exit(2);
	}
	if (!is_my_turn())
		return error;
	if (error)
		printf("%s failed: %s\n", word, strerrorname_np(error));
	else
		printf("%s ok%s\n", word, line);
	return error;
}

unsigned int run_words(struct program *p, char *const *list, int n)
{
	unsigned int failures = 0;

	for (int i = 0; i < n; i++)
		if (is_my_turn() || !strncmp(list[i], "turn:", 5))
			failures += !!do_word(p, list[i]);
	return failures;
}
