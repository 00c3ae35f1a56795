/* SPDX-License-Identifier: BSD-2-Clause */
/* The command line, which all programs of this folder have in common. */
#pragma once

#include <netinet/in.h>

/*
 * The options that are text can be lists A,B,C: process I has item I, modulo their number, as
 * device and GID, and listens at item I of the addresses.
 */
struct options {
	const char *devices, *gids, *addresses;
	in_port_t port;
	unsigned int index;
	unsigned long n; /* what it counts, the program says */
	char **words;	 /* what follows; ends with NULL */
	int n_words;
};

/* @usage: what the program does, and what -n stands for. Ends the program if it cannot be read. */
struct options options_read(int argc, char **argv, const char *usage);

/* The same of a program that takes more words, which @words names: one or several. */
struct options options_read_words(int argc, char **argv, const char *words, const char *usage);

/* Item @index, modulo their number, of a list; the caller keeps it. NULL if the list is NULL. */
char *options_item(const char *list, unsigned int index);
