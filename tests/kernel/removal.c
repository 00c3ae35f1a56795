/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Removing a device first deletes its node, then waits until all its ufiles are closed: a process
 * that watches the node can close its own in time.
 */
#include "kernel.h"

#include <poll.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#define WAIT_MS 10000

static char netdev[64];

static void learn_netdev(void)
{
	char path[160];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gid_attrs/ndevs/0",
		 device_name());
	file = fopen(path, "r");
	EXPECT(file && fscanf(file, "%63s", netdev) == 1);
	fclose(file);
}

static pid_t start_removal(const char *device)
{
	pid_t child = fork();

	EXPECT(child >= 0);
	if (!child) {
		execlp("rdma", "rdma", "link", "delete", device, NULL);
		_exit(127);
	}
	return child;
}

static bool node_deleted(int watch)
{
	char events[4096];
	struct pollfd wait = {.fd = watch, .events = POLLIN};

	return poll(&wait, 1, WAIT_MS) == 1 && read(watch, events, sizeof(events)) > 0;
}

int main(void)
{
	int ufile = open_context(), watch = inotify_init1(IN_CLOEXEC), status;
	const char *lab = getenv("LAB");
	char device[64], add[256];
	pid_t removal;

	need_rxe();
	if (!lab || strcmp(lab, "vm"))
		skip("it removes the device, so it runs only in the virtual machine of tools/lab");
	snprintf(device, sizeof(device), "%s", device_name());
	learn_netdev();
	EXPECT(inotify_add_watch(watch, "/dev/infiniband", IN_DELETE) >= 0);
	removal = start_removal(device);
	EXPECT(node_deleted(watch));
	/* Half a second later it still waits for us. */
	usleep(500000);
	EXPECT(waitpid(removal, &status, WNOHANG) == 0);
	close(ufile);
	EXPECT(waitpid(removal, &status, 0) == removal && status == 0);
	snprintf(add, sizeof(add), "rdma link add %s type rxe netdev %s", device, netdev);
	EXPECT(system(add) == 0);
	close(open_context());
	return 0;
}
