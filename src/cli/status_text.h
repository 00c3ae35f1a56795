/*
 * What the daemon says of itself, for people. Each takes the daemon's document and returns 0 or
 * -ENOMEM.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

int wv_print_status(json_t *status, FILE *out);

/* Only the recipes, with what tells them apart. */
int wv_print_recipes(json_t *status, FILE *out);

int wv_print_forgotten(json_t *answer, FILE *out);
