/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program behind a web server, by CGI or FastCGI: says what it was asked, and what process it is.
 * To the query "endless" it says so as long as somebody hears it.
 */
#include <fcgi_stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

static void answer(const char *query)
{
	char body[100];

	body[fread(body, 1, sizeof(body) - 1, stdin)] = '\0';
	printf("Content-Type: text/plain\r\n\r\n");
	do {
		printf("%d %d %s %s %s\n", getpid(), getppid(), query, variable("HTTP_X_WORD"),
		       body);
	} while (!strcmp(query, "endless") && !fflush(stdout));
}

int main(void)
{
	while (FCGI_Accept() >= 0)
		answer(variable("QUERY_STRING"));
	return 0;
}
