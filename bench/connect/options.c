/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include "../measure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Noreturn void print_usage(const char *words, const char *usage, FILE *to, int status)
{
	fprintf(
	    to,
	    "usage: %s [-d DEVICE] [-g INDEX] [-a ADDRESS] [-p PORT] [-i I] [-n N]%s\n%s\n"
	    "  -d DEVICE   RDMA device (default: the first)\n"
	    "  -g INDEX    of its GID (default: 1)\n"
	    "  -a ADDRESS  where the other side listens (default: 127.0.0.1)\n"
	    "  -p PORT     that it listens on\n"
	    "  -i I        number of this process, if there are several. After -d and -g there\n"
	    "              can be lists A,B,... of which it takes item I; after -a, item I is "
	    "where\n"
	    "              process I listens. After the last item comes the first one again\n",
	    program_invocation_short_name, words, usage);
	exit(status);
}

struct options options_read(int argc, char **argv, const char *usage)
{
	struct options o = options_read_words(argc, argv, "", usage);

	if (o.n_words)
		print_usage("", usage, stderr, 2);
	return o;
}

struct options options_read_words(int argc, char **argv, const char *words, const char *usage)
{
	struct options o = {.gids = "1", .addresses = "127.0.0.1"};
	int c;

	while ((c = getopt(argc, argv, "d:g:a:p:i:n:h")) != -1) {
		switch (c) {
		case 'd':
			o.devices = optarg;
			break;
		case 'g':
			o.gids = optarg;
			break;
		case 'a':
			o.addresses = optarg;
			break;
		case 'p':
			o.port = (in_port_t)number(optarg, 0);
			break;
		case 'i':
			o.index = (unsigned int)number(optarg, 0);
			break;
		case 'n':
			o.n = number(optarg, 1);
			break;
		default:
			print_usage(words, usage, c == 'h' ? stdout : stderr, c == 'h' ? 0 : 2);
		}
	}
	o.words = argv + optind;
	o.n_words = argc - optind;
	if (*words && !o.n_words)
		print_usage(words, usage, stderr, 2);
	return o;
}

static unsigned int length(const char *list)
{
	unsigned int n = 1;

	while ((list = strchr(list, ','))) {
		list++;
		n++;
	}
	return n;
}

char *options_item(const char *list, unsigned int index)
{
	if (!list)
		return NULL;
	for (index %= length(list); index; index--)
		list = strchr(list, ',') + 1;
	return made(strndup(list, strcspn(list, ",")), "memory");
}
