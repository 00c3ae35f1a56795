/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/stop.h"

#include "base/base.h"
#include "template/environment.h"
#include "template/libraries.h"
#include "template/own_settings.h"
#include "template/tell.h"

static enum wv_stop stop;

/* The place of a variable, or NULL. */
static char **find(char **variable, const char *name)
{
	size_t length = strlen(name);

	for (; *variable; variable++)
		if (!strncmp(*variable, name, length) && (*variable)[length] == '=')
			return variable;
	return NULL;
}

static void drop(char **variable)
{
	do
		variable[0] = variable[1];
	while (*variable++);
}

/*
 * Before all other constructors, those of libc too (-z initfirst): neither they nor the program nor
 * the children are to find what made this process a template.
 */
__attribute__((constructor)) static void look(int argc, char **argv, char **variables)
{
	char **asked = find(variables, WV_TEMPLATE_ENV), **preload = find(variables, "LD_PRELOAD");
	const char *at = asked ? *asked + sizeof(WV_TEMPLATE_ENV) : "";
	const char *before = strchr(at, ':');

	(void)argc;
	(void)argv;
	if (!before)
		return;
	stop = *at == 'm' ? WV_STOP_AT_MAIN : WV_STOP_AT_POINT;
	if (preload && before[1])
		*preload = (char *)before + 1;
	else if (preload)
		drop(preload);
	drop(find(variables, WV_TEMPLATE_ENV)); /* it may have moved */
	if (stop == WV_STOP_AT_MAIN && !wv_program_has_main()) {
		wv_tell_supervisor(WV_CONTROL_CANNOT, 0, "it is not begun by libc");
		_exit(0);
	}
	wv_environment_remember(variables);
	wv_own_settings_remember();
}

enum wv_stop wv_stop_place(void)
{
	return stop;
}

void wv_stop_is_reached(void)
{
	stop = WV_STOP_NOWHERE;
}
