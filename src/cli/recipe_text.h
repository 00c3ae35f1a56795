/*
 * A recipe, as the daemon tells it, for people.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/* 0; -EPROTO if the document is none that this version reads; -ENOMEM. */
int wv_print_recipe(json_t *recipe, FILE *out);
