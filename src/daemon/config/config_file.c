/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/config/config_file.h"

#include "base/log.h"

#include <errno.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SECTION "warmverbsd"

struct file {
	wv_config_set_fn set;
	void *config;
	char problem[256]; /* the first one found; empty: none */
};

__attribute__((format(printf, 2, 3))) static int complain(struct file *file, const char *format,
							  ...)
{
	va_list args;

	if (*file->problem)
		return 0;
	va_start(args, format);
	vsnprintf(file->problem, sizeof(file->problem), format, args);
	va_end(args);
	return 0;
}

/* inih's handler: 1 if the line is good. */
static int take_line(void *data, const char *section, const char *name, const char *value)
{
	struct file *file = data;

	if (*section && strcmp(section, SECTION))
		return complain(file, "section [%s] is not known, only [" SECTION "] is", section);
	if (!strcmp(name, "config"))
		return complain(file, "config can be set on the command line only");
	switch (file->set(file->config, name, value)) {
	case 0:
		return 1;
	case -ENOENT:
		return complain(file, "%s is not an option; warmverbsd --help lists them", name);
	default:
		return complain(file, "%s cannot be '%s'", name, value);
	}
}

int wv_config_file_read(const char *path, wv_config_set_fn set, void *config, char *why,
			unsigned int size)
{
	struct file file = {.set = set, .config = config};
	FILE *in = fopen(path, "re");
	int line;

	if (!in)
		return -errno;
	line = ini_parse_file(in, take_line, &file);
	fclose(in);
	if (!line)
		return 0;
	if (!*file.problem)
		complain(&file, "not of the form 'option = value'");
	snprintf(why, size, "%s:%d: %s", path, line, file.problem);
	return -EINVAL;
}
