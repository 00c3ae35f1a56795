/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's answers about recipes, for people. Each function takes the answer's document.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* Prints one recipe and its steps. 0; -EPROTO if this version cannot read the document; -ENOMEM. */
int wv_print_recipe(json_t *recipe, FILE *out);

/* Prints a line for each recipe of a status document. 0 or -ENOMEM. */
int wv_print_recipes(json_t *status, FILE *out);

/* Prints how many recipes were forgotten. Returns 0. */
int wv_print_forgotten(json_t *answer, FILE *out);
