/*
 * The configuration file: an INI file of at most one section, [warmverbsd].
 */
#include "base/log.h"
#include "daemon/config.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct file {
	struct wv_config *config;
	char problem[256]; /* the first */
};

static void complain(struct file *file, const char *format, const char *a, const char *b)
{
	if (!*file->problem)
		snprintf(file->problem, sizeof(file->problem), format, a, b);
}

/* inih's handler: 1 if the line is good. */
static int take_line(void *data, const char *section, const char *name, const char *value)
{
	struct file *file = data;
	/* Values outlive the file; it is read once, so they are never freed. */
	char *copy = strdup(value);

	if (*section && strcmp(section, "warmverbsd"))
		complain(file, "section [%s] is not known, only [%s] is", section, "warmverbsd");
	else if (!copy)
		complain(file, "%s: %s", name, strerror(ENOMEM));
	else if (!strcmp(name, "config"))
		complain(file, "%s can be set on the command line %s", name, "only");
	else
		switch (wv_config_set(file->config, name, copy)) {
		case 0:
			return 1;
		case -ENOENT:
			complain(file, "%s is not an option%s", name,
				 "; warmverbsd --help lists them");
			break;
		default:
			complain(file, "%s cannot be '%s'", name, value);
		}
	free(copy);
	return 0;
}

int wv_config_read_file(struct wv_config *config, const char *path, char *why, unsigned int size)
{
	struct file file = {.config = config};
	FILE *in = fopen(path, "re");
	int line;

	if (!in)
		return -errno;
	line = ini_parse_file(in, take_line, &file);
	fclose(in);
	if (!line)
		return 0;
	if (!*file.problem)
		complain(&file, "not of the form 'option = value'%s%s", "", "");
	snprintf(why, size, "%s:%d: %s", path, line, file.problem);
	return -EINVAL;
}
