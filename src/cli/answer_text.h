/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The daemon's answers, for people. Each function prints an answer's document.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* 0 or -ENOMEM. */
int wv_print_status(json_t *status, FILE *out);

/* A line for each recipe of a status document. 0 or -ENOMEM. */
int wv_print_recipes(json_t *status, FILE *out);

/* One recipe and its steps. 0; -EPROTO if this version cannot read the document; -ENOMEM. */
int wv_print_recipe(json_t *recipe, FILE *out);

/* How many recipes were forgotten. Returns 0. */
int wv_print_forgotten(json_t *answer, FILE *out);

/* 0 or -ENOMEM. */
int wv_print_peers(json_t *document, FILE *out);
