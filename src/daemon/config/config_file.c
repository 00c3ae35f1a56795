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
	struct wv_config *config;
	FILE *in;
	int n_lines, too_long; /* read so far; the number of the one that is too long, or 0 */
	int most;	       /* bytes of a line that inih takes */
	char problem[256];     /* the first one found; empty: none */
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

/*
 * inih's reader. inih takes what does not fit its buffer as a further line, so that the end of a
 * list would be a wrong line, or a shorter address another address. Therefore no more is read.
 */
static char *read_line(char *text, int size, void *data)
{
	struct file *file = data;

	if (!fgets(text, size, file->in))
		return NULL;
	file->n_lines++;
	if (strlen(text) < (size_t)size - 1 || text[size - 2] == '\n')
		return text;
	file->too_long = file->n_lines;
	file->most = size - 2;
	return NULL;
}

/* The number of the first wrong line, or 0. */
static int read_lines(struct file *file)
{
	int line = ini_parse_stream(read_line, file, take_line, file);

	if (line && !*file->problem)
		complain(file, "not of the form 'option = value'");
	if (line || !file->too_long)
		return line;
	complain(file, "longer than %d bytes: a list may go on in a line that begins with a blank",
		 file->most);
	return file->too_long;
}

int wv_config_file_read(const char *path, wv_config_set_fn set, struct wv_config *config, char *why,
			unsigned int size)
{
	struct file file = {.set = set, .config = config, .in = fopen(path, "re")};
	int line;

	if (!file.in)
		return -errno;
	line = read_lines(&file);
	fclose(file.in);
	if (!line)
		return 0;
	snprintf(why, size, "%s:%d: %s", path, line, file.problem);
	return -EINVAL;
}
