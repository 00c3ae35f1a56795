/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to the daemon, and its answers.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* An answer: the daemon's text, and the same parsed. */
struct wv_answer {
	char *text;
	json_t *document;
};

/* The path of the daemon's socket: @socket, or, if that is NULL, the one that programs use. */
const char *wv_ask_path(const char *socket);

/*
 * Sends @question to the daemon at @path, and frees it. Waits for some seconds at most. Returns 0
 * or -errno. In both cases the caller frees @answer with wv_answer_finish().
 */
int wv_ask_quietly(const char *path, json_t *question, struct wv_answer *answer);

/*
 * Sends @question to the daemon at @socket (NULL: the socket that the environment names), and frees
 * it. Returns 0, or an exit code after telling the user why there is no answer. In both cases the
 * caller frees @answer with wv_answer_finish().
 */
int wv_ask(const char *socket, json_t *question, struct wv_answer *answer);

/* Prints a document. 0 or -errno. */
typedef int (*wv_answer_print_fn)(json_t *document, FILE *out);

/*
 * Prints the document with @print, or, if that is NULL, the daemon's text unchanged. Returns 0, or
 * an exit code after telling the user why printing failed.
 */
int wv_answer_print(const struct wv_answer *answer, wv_answer_print_fn print);

/* Frees what @answer contains. */
void wv_answer_finish(struct wv_answer *answer);
