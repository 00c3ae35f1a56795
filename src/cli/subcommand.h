/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the subcommands have in common. Each has a file of its own and a row in main.c.
 */
#pragma once

#include <argp.h>

/* Exit codes; warmverbs(1) explains them to users. */
enum wv_exit {
	WV_EXIT_FAILED = 1,	   /* the reason was printed */
	WV_EXIT_USAGE = 2,	   /* the command line is wrong */
	WV_EXIT_NO_DAEMON = 3,	   /* no daemon answers at the socket */
	WV_EXIT_NOT_STARTED = 125, /* run, explain: warmverbs itself failed */
	WV_EXIT_NOT_RUNNABLE = 126,
	WV_EXIT_NOT_FOUND = 127,
};

struct wv_subcommand {
	const char *name, *summary;
	int usage_exit;			    /* exit code for a wrong command line */
	int (*main)(int argc, char **argv); /* returns the exit code */
};

/* Keys of options without a short name, above every character. */
enum wv_option {
	WV_OPTION_JSON = 0x100,
	WV_OPTION_DETAILS,
	WV_OPTION_NAME,
	WV_OPTION_NO_LEASE,
	WV_OPTION_OUTPUT,
	WV_OPTION_PROMETHEUS,
	WV_OPTION_SOCKET,
	WV_OPTION_SUMMARY,
};

#define WV_SOCKET_OPTION                                                                           \
	{                                                                                          \
		"socket", WV_OPTION_SOCKET, "PATH", 0, "Socket of the daemon", 0                   \
	}
