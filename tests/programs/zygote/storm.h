/* SPDX-License-Identifier: BSD-2-Clause */
/* Many children, each of which may be killed at any moment. */
#pragma once

struct storm {
	int children, at_once;
	int seconds;	  /* then no more children are forked */
	int microseconds; /* a child is killed at some moment of this time, if it has not ended */
	char *const *words;
	int n_words;
};

/* Returns how many of the children that ended by themselves failed. */
int storm_run(const struct storm *storm);
