/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/recipes.h"

#include "base/base.h"
#include "cli/arguments.h"
#include "cli/ask.h"
#include "cli/recipe_text.h"

#include <stdbool.h>
#include <string.h>

struct action {
	const char *name, *op;
	bool takes_id;
	int (*print)(json_t *document, FILE *out);
};

static const struct action actions[] = {
    {"list", "status", false, wv_print_recipes},
    {"show", "recipe", true, wv_print_recipe},
    {"forget", "forget", true, wv_print_forgotten},
};

struct recipes {
	const struct action *action;
	const char *id, *socket;
	bool json;
};

static const struct argp_option options[] = {WV_JSON_OPTION, WV_SOCKET_OPTION, {0}};

static const struct action *find(const char *name)
{
	for (unsigned int i = 0; i < WV_ARRAY_SIZE(actions); i++)
		if (!strcmp(actions[i].name, name))
			return &actions[i];
	return NULL;
}

static void take_word(struct recipes *r, char *word, struct argp_state *state)
{
	if (!r->action && !(r->action = find(word)))
		argp_error(state, "unknown action '%s': give list, show or forget", word);
	else if (state->arg_num == 1 && r->action->takes_id)
		r->id = word;
	else if (state->arg_num > 0)
		argp_error(state, "unexpected argument '%s'", word);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recipes *r = state->input;

	switch (key) {
	case WV_OPTION_JSON:
		r->json = true;
		return 0;
	case WV_OPTION_SOCKET:
		r->socket = arg;
		return 0;
	case ARGP_KEY_ARG:
		take_word(r, arg, state);
		return 0;
	case ARGP_KEY_END:
		if (!r->action)
			argp_usage(state);
		else if (r->action->takes_id && !r->id)
			argp_error(state, "%s needs an ID from 'warmverbs recipes list'",
				   r->action->name);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "list\nshow ID\nforget ID|all",
    .doc = "List the daemon's recipes, show the steps of one, or make the daemon forget one or "
	   "all.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers.",
};

static int main_of_recipes(int argc, char **argv)
{
	struct recipes r = {0};
	struct wv_answer answer;
	json_t *question;
	int code;

	wv_arguments_parse(&argp, argc, argv, 0, &r);
	question = json_pack("{s:s, s:s*}", "op", r.action->op, "id", r.id);
	code = wv_ask(r.socket, question, &answer);
	if (!code)
		code = wv_answer_print(&answer, r.json ? NULL : r.action->print);
	wv_answer_finish(&answer);
	return code;
}

const struct wv_subcommand wv_cli_recipes = {
    .name = "recipes",
    .summary = "list, show or forget recipes",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_recipes,
};
