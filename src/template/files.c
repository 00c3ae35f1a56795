/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/files.h"

#include "base/base.h"
#include "template/control.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define DELETED " (deleted)"

/* Of inotify(7). A file that is replaced loses a link: IN_ATTRIB. */
#define CHANGES_OF_FILE (IN_MODIFY | IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF)
/* What files in it there are, not what is in them. */
#define CHANGES_OF_FOLDER (IN_CREATE | IN_DELETE | IN_MOVE | IN_MOVE_SELF | IN_DELETE_SELF)

/* File systems on which other nodes write, unseen by inotify(7); not all are in linux/magic.h. */
static const unsigned int shared_by_nodes[] = {
    NFS_SUPER_MAGIC,
    SMB_SUPER_MAGIC,
    V9FS_MAGIC,
    CEPH_SUPER_MAGIC,
    FUSE_SUPER_MAGIC,
    0xff534d42 /* CIFS */,
    0xfe534d42 /* SMB 2 */,
    0x0bd00bd0 /* Lustre */,
    0x47504653 /* GPFS */,
    0x19830326 /* BeeGFS */,
    0xaad7aaea /* PanFS */,
    0x01161970 /* GFS2 */,
    0x7461636f /* OCFS2 */,
    AFS_FS_MAGIC,
};

static bool is_shared_by_nodes(const struct statfs *fs)
{
	for (size_t i = 0; i < WV_ARRAY_SIZE(shared_by_nodes); i++)
		if ((unsigned int)fs->f_type == shared_by_nodes[i])
			return true;
	return false;
}

static bool is_not_older(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec > other->tv_sec ||
	       (one->tv_sec == other->tv_sec && one->tv_nsec >= other->tv_nsec);
}

/* The supervisor has made it just before it started this process. */
static bool has_changed(const struct stat *file)
{
	struct stat proof;

	return fstat(WV_TEMPLATE_PROOF, &proof) || is_not_older(&file->st_ctim, &proof.st_ctim);
}

bool wv_is_folder(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

int wv_file_watch(const char *path)
{
	bool is_folder = wv_is_folder(path);
	struct statfs fs;
	struct stat st;

	/* IN_MASK_ADD: a folder may be one of libraries and one of modules. */
	if (inotify_add_watch(WV_TEMPLATE_CHANGES, path,
			      IN_MASK_ADD | (is_folder ? CHANGES_OF_FOLDER : CHANGES_OF_FILE)) <
		0 ||
	    stat(path, &st) || statfs(path, &fs))
		return -errno;
	if (is_shared_by_nodes(&fs))
		return -EREMOTE;
	return S_ISREG(st.st_mode) && has_changed(&st) ? -ESTALE : 0;
}

static bool is_deleted(const char *path)
{
	size_t length = strlen(path), tail = strlen(DELETED);

	return length > tail && !strcmp(path + length - tail, DELETED);
}

int wv_files_watch_mapped(void)
{
	wv_auto_file maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	int err = wv_file_watch("/etc/ld.so.cache");

	if (!maps)
		return -errno;
	if (err == -ENOENT)
		err = 0;
	while (!err && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');

		if (!path)
			continue;
		path[strcspn(path, "\n")] = '\0';
		err = is_deleted(path) ? -ESTALE : wv_file_watch(path);
	}
	return err;
}

const char *wv_files_error(int err)
{
	switch (-err) {
	case ESTALE:
		return "one of its files changed while it was loaded";
	case EREMOTE:
		return "one of its files is on a file system of several nodes";
	case ENOSPC:
		return "there are no inotify watches left (fs.inotify.max_user_watches)";
	default:
		return strerror(-err);
	}
}
