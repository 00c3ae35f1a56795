/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/environment.h"

#include "base/base.h"
#include "template/spy.h"

#define MOST_BYTES ((size_t)64 << 10)

/* Strings, each with its end mark; a change that removes a variable is its name alone. */
static struct list {
	size_t bytes;
	bool is_full;
	char strings[MOST_BYTES];
} before, changes;

static void add(struct list *list, const char *string, size_t length)
{
	list->is_full |= length >= MOST_BYTES - list->bytes;
	if (list->is_full)
		return;
	memcpy(list->strings + list->bytes, string, length);
	list->bytes += length;
	list->strings[list->bytes++] = '\0';
}

#define each_string(list, string)                                                                  \
	for (char *string = (list)->strings; string < (list)->strings + (list)->bytes;             \
	     string += strlen(string) + 1)

static size_t name_length(const char *variable)
{
	return strcspn(variable, "=");
}

static bool is_of(const char *variable, const char *name, size_t length)
{
	return name_length(variable) == length && !strncmp(variable, name, length);
}

void wv_environment_remember(char **variables)
{
	for (char **variable = variables; *variable; variable++)
		add(&before, *variable, strlen(*variable));
}

static bool was_there(const char *variable)
{
	each_string(&before, string) if (!strcmp(string, variable)) return true;
	return false;
}

static bool is_set(const char *name, size_t length)
{
	for (char **variable = environ; *variable; variable++)
		if (is_of(*variable, name, length))
			return true;
	return false;
}

/* What a program sets may depend on what was there: see setenv(3) with @overwrite 0. */
static void note_before(const char *name, size_t length)
{
	each_string(&before, string) if (is_of(string, name, length))
	{
		wv_spy_note(string, length, string + length + 1);
		return;
	}
	wv_spy_note(name, length, NULL);
}

static void add_change(const char *variable, size_t bytes)
{
	add(&changes, variable, bytes);
	note_before(variable, name_length(variable));
}

const char *wv_environment_compare(void)
{
	for (char **variable = environ; *variable; variable++)
		if (!was_there(*variable))
			add_change(*variable, strlen(*variable));
	each_string(&before, string) if (!is_set(string, name_length(string)))
	    add_change(string, name_length(string));
	return before.is_full || changes.is_full ? "its environment is larger than 64 KB" : NULL;
}

static void make_change(char *variable)
{
	if (strchr(variable, '='))
		putenv(variable);
	else
		unsetenv(variable);
}

void wv_environment_change(void)
{
	each_string(&changes, variable) make_change(variable);
}
