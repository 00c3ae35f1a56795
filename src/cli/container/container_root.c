/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/container/container_root.h"

#include "base/base.h"
#include "cli/container/libc_version.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

/*
 * Where the dynamic linkers of distributions find libc; other processors are here because a library
 * in /etc/ld.so.preload makes their programs print a message.
 */
static const char *const libc_paths[] = {
    "lib/libc.so.6",
    "lib64/libc.so.6",
    "usr/lib/libc.so.6",
    "usr/lib64/libc.so.6",
    "lib/aarch64-linux-gnu/libc.so.6",
    "lib/arm-linux-gnueabihf/libc.so.6",
    "lib/i386-linux-gnu/libc.so.6",
    "lib/x86_64-linux-gnu/libc.so.6",
    "usr/lib/aarch64-linux-gnu/libc.so.6",
    "usr/lib/i386-linux-gnu/libc.so.6",
    "usr/lib/x86_64-linux-gnu/libc.so.6",
};

int wv_root_open(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* A path is opened as such, since opening a device or a pipe has effects. */
static int find(int root, const char *path, uint64_t resolve)
{
	struct open_how how = {
	    .flags = O_PATH | O_CLOEXEC,
	    .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | resolve,
	};
	long fd = syscall(SYS_openat2, root, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int open_file(int root, const char *path)
{
	wv_auto_fd found = find(root, path, 0);
	char link[64];
	struct stat st;
	int fd;

	if (found < 0)
		return found;
	if (fstat(found, &st) || !S_ISREG(st.st_mode))
		return -EINVAL;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
	fd = open(link, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Whether @library fits the image's @path; true if there is no such file. */
static bool fits(int root, const char *path, int library, bool *found, char *why, size_t capacity)
{
	wv_auto_fd libc = open_file(root, path);
	char missing[64];
	int err;

	if (libc == -ENOENT || libc == -ENOTDIR)
		return true;
	*found = true;
	err = libc < 0 ? libc : wv_libc_fits(library, libc, missing, sizeof(missing));
	if (err == WV_LIBC_TOO_OLD)
		snprintf(why, capacity, "/%s of the image is too old: it lacks %s", path, missing);
	else if (err == WV_LIBC_OTHER_MACHINE)
		snprintf(why, capacity, "/%s of the image is for another processor", path);
	else if (err)
		snprintf(why, capacity, "/%s of the image cannot be read: %s", path,
			 strerror(-err));
	return !err;
}

bool wv_root_takes_library(int root, int library, char *why, size_t capacity)
{
	bool found = false;

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(libc_paths); i++)
		if (!fits(root, libc_paths[i], library, &found, why, capacity))
			return false;
	if (!found)
		snprintf(why, capacity, "the image has no glibc");
	return found;
}

static int create(int parent, const char *name, bool folder)
{
	int fd;

	if (folder)
		return mkdirat(parent, name, 0755) && errno != EEXIST ? -errno : 0;
	fd = openat(parent, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	close(fd);
	return 0;
}

/*
 * As the owner of @parent: a file system that was mounted in a user namespace has no files of users
 * who are not in it, and root of the node is not.
 */
static int make_target(int parent, const char *name, bool folder)
{
	struct stat st;
	int err;

	if (fstat(parent, &st))
		return -errno;
	setfsgid(st.st_gid);
	setfsuid(st.st_uid);
	err = create(parent, name, folder);
	setfsuid(geteuid());
	setfsgid(getegid());
	return err;
}

#define TMPFS_ROOT_INODE 1 /* of shmem_fill_super() in the kernel, since Linux 5.9 */

/* Whether the whole of a tmpfs is mounted there, and no folder of one that the host has. */
static bool is_tmpfs(int folder)
{
	struct statfs file_system;
	struct stat st;

	return !fstatfs(folder, &file_system) && file_system.f_type == TMPFS_MAGIC &&
	       !fstat(folder, &st) && st.st_ino == TMPFS_ROOT_INODE;
}

/*
 * The folder @path of the container's own: a link of the image must not lead into a volume, in
 * which files stay for others. A tmpfs that is mounted there ends with the container.
 */
static int find_own(int root, const char *path)
{
	wv_auto_fd folder = find(root, path, RESOLVE_NO_XDEV);

	if (folder != -EXDEV)
		return wv_steal_fd(&folder);
	folder = find(root, path, RESOLVE_NO_SYMLINKS);
	if (folder < 0)
		return folder;
	return is_tmpfs(folder) ? wv_steal_fd(&folder) : -EXDEV;
}

/* The place for a mount of a @folder or file; a descriptor, or -errno. */
static int open_target(int root, const char *in, const char *name, bool folder, bool if_empty)
{
	wv_auto_fd parent = find_own(root, in), target = -1;
	struct stat st;
	int err = parent < 0 ? parent : make_target(parent, name, folder);

	if (err)
		return err;
	target = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (target < 0 || fstat(target, &st))
		return -errno;
	if (folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode))
		return -EINVAL;
	return if_empty && st.st_size ? -EEXIST : wv_steal_fd(&target);
}

int wv_root_mount_of(const char *from)
{
	struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID |
						    MOUNT_ATTR_NODEV};
	wv_auto_fd tree = open_tree(AT_FDCWD, from, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);

	if (tree < 0 || mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof(attributes)))
		return -errno;
	return wv_steal_fd(&tree);
}

/* Goes through descriptors only, so that no link of the image leads the mount elsewhere. */
int wv_root_put(int root, int tree, const char *folder, const char *name, bool if_empty)
{
	wv_auto_fd target = -1;
	struct stat st;

	if (fstat(tree, &st))
		return -errno;
	target = open_target(root, folder, name, S_ISDIR(st.st_mode), if_empty);
	if (target < 0)
		return target;
	return move_mount(tree, "", target, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH)
		   ? -errno
		   : 0;
}
