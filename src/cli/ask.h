/*
 * Asking the daemon, as the command line does.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* An answer: the daemon's own text, and what it says. */
struct wv_answer {
	char *text;
	json_t *document;
};

/*
 * Puts @question, which is consumed, to the daemon at @socket (NULL: as the environment says).
 * Returns 0, or the exit code after the user was told why there is no answer.
 */
int wv_ask(const char *socket, json_t *question, struct wv_answer *answer);

/*
 * Prints the document by @print, or, if that is NULL, the daemon's text as it is. Returns the exit
 * code, after a word to the user if it failed.
 */
int wv_answer_print(const struct wv_answer *answer, int (*print)(json_t *document, FILE *out));

void wv_answer_finish(struct wv_answer *answer);
