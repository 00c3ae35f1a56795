/* Many children, each of which may be killed at any moment. */
#pragma once

struct storm {
	int children, at_once;
	int microseconds; /* in which a child is killed, if it has not ended */
	char *const *words;
	int n_words;
};

/* How many children failed of those that ended by themselves. */
int storm_run(const struct storm *storm);
