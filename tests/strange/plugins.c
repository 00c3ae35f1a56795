/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plugins deep|usual|stays FILE: loads the file with RTLD_DEEPBIND or without, uses it and unloads
 * it, twice. "stays": libwarmverbs, which the file brings, must not be unloaded with it, since the
 * process may still call its functions. Then the process forks, and ends as usual.
 */
#include "support/check.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_S 100

static int use(const char *file, int how)
{
	void *plugin = dlopen(file, RTLD_NOW | how);
	int (*use_device)(void);
	int result;

	if (!plugin)
		fprintf(stderr, "%s\n", dlerror());
	EXPECT(plugin);
	use_device = (int (*)(void))dlsym(plugin, "use_device");
	EXPECT(use_device);
	result = use_device();
	EXPECT(!dlclose(plugin));
	return result;
}

int main(int argc, char **argv)
{
	int how, result, status;
	pid_t child;

	alarm(LIMIT_S);
	EXPECT(argc == 3);
	how = strcmp(argv[1], "deep") ? 0 : RTLD_DEEPBIND;
	result = use(argv[2], how);
	result |= use(argv[2], how);
	EXPECT(strcmp(argv[1], "stays") || dlopen("libwarmverbs.so.0", RTLD_LAZY | RTLD_NOLOAD));
	fflush(stdout);
	child = fork();
	if (!child)
		exit(0);
	EXPECT(waitpid(child, &status, 0) == child && !status);
	printf("forked, result %d\n", result);
	return 0;
}
