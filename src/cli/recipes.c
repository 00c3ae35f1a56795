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
	const char *id;
	struct wv_asking asking;
};

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
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->asking;
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
    .parser = parse,
    .children = wv_asking_argp,
    .args_doc = "list\nshow ID\nforget ID|all",
    .doc = "List the daemon's recipes, show the steps of one, or make the daemon forget one or "
	   "all.\v"
	   "Exit status: 0 done, 1 failed, 2 wrong usage, 3 no daemon answers.",
};

static int main_of_recipes(int argc, char **argv)
{
	struct recipes r = {0};

	wv_arguments_parse(&argp, argc, argv, 0, &r);
	return wv_ask_and_print(r.asking.socket,
				json_pack("{s:s, s:s*}", "op", r.action->op, "id", r.id),
				r.asking.json ? NULL : r.action->print);
}

const struct wv_subcommand wv_cli_recipes = {
    .name = "recipes",
    .summary = "list, show or forget recipes",
    .usage_exit = WV_EXIT_USAGE,
    .main = main_of_recipes,
};
