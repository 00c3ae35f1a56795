/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/ipc/user_socket.h"

#include "base/base.h"
#include "wire/wire.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define BACKLOG	   4096
#define READ_WRITE (ACL_READ | ACL_WRITE)

struct acl {
	struct posix_acl_xattr_header head;
	struct posix_acl_xattr_entry entries[5];
};

static struct posix_acl_xattr_entry entry(uint16_t tag, uint16_t permissions, uid_t uid)
{
	return (struct posix_acl_xattr_entry){
	    .e_tag = htole16(tag), .e_perm = htole16(permissions), .e_id = htole32(uid)};
}

/* Lets @uid connect, beside the owner. */
static int admit(const char *path, uid_t uid)
{
	const uint32_t none = (uint32_t)ACL_UNDEFINED_ID;
	const struct acl acl = {
	    .head.a_version = htole32(POSIX_ACL_XATTR_VERSION),
	    .entries = {entry(ACL_USER_OBJ, READ_WRITE, none), entry(ACL_USER, READ_WRITE, uid),
			entry(ACL_GROUP_OBJ, 0, none), entry(ACL_MASK, READ_WRITE, none),
			entry(ACL_OTHER, 0, none)},
	};

	return setxattr(path, "system.posix_acl_access", &acl, sizeof(acl), 0) ? -errno : 0;
}

static int folder_of(char *path, size_t capacity, const char *socket)
{
	int bytes = snprintf(path, capacity, "%s" WV_USER_SOCKETS, socket);

	return bytes < (int)capacity ? 0 : -ENAMETOOLONG;
}

/* Removes what is in the folder @path. */
static void empty(const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *file;

	if (!folder)
		return;
	while ((file = readdir(folder)))
		if (file->d_type == DT_SOCK)
			unlinkat(dirfd(folder), file->d_name, 0);
	closedir(folder);
}

/*
 * Who may connect to @socket may look for their own in the folder, by name. systemd's unit kills a
 * daemon that calls chown(2), and its folders have the right group.
 */
static int open_to_clients(const char *folder, const char *socket)
{
	struct stat common, own;

	if (stat(socket, &common) || stat(folder, &own))
		return -errno;
	if (own.st_gid != common.st_gid && chown(folder, (uid_t)-1, common.st_gid))
		return -errno;
	return chmod(folder, 0700 | (common.st_mode & 022) >> 1) ? -errno : 0;
}

int wv_user_sockets_prepare(const char *socket)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int err = folder_of(path, sizeof(path), socket);

	if (err)
		return err;
	empty(path);
	if (mkdir(path, 0700) && errno != EEXIST)
		return -errno;
	return open_to_clients(path, socket);
}

int wv_bind_closed(const struct sockaddr_un *at)
{
	wv_auto_fd sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (sock < 0)
		return -errno;
	/*
	 * The permissions of an unbound socket become its name's, less the umask: unix_bind_bsd().
	 */
	if (fchmod(sock, 0600) || bind(sock, (const struct sockaddr *)at, sizeof(*at)))
		return -errno;
	return wv_steal_fd(&sock);
}

/* A socket that @uid can connect to, and the owner, who is this process's user. */
static int listen_for(const struct sockaddr_un *at, uid_t uid)
{
	wv_auto_fd sock = wv_bind_closed(at);
	int err;

	if (sock < 0)
		return sock;
	err = uid == geteuid() ? 0 : admit(at->sun_path, uid);
	if (!err && listen(sock, BACKLOG))
		err = -errno;
	if (err)
		unlink(at->sun_path);
	return err ? err : wv_steal_fd(&sock);
}

int wv_user_socket_listen(const char *socket, uid_t uid)
{
	struct sockaddr_un at;
	int err = wv_user_socket(&at, socket, uid);

	return err ? err : listen_for(&at, uid);
}

void wv_user_socket_remove(const char *socket, uid_t uid)
{
	struct sockaddr_un at;

	if (!wv_user_socket(&at, socket, uid))
		unlink(at.sun_path);
}

void wv_user_sockets_remove(const char *socket)
{
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];

	if (folder_of(path, sizeof(path), socket))
		return;
	empty(path);
	rmdir(path);
}

/* Whether nobody but this process's user may change what is in the folder. */
static bool is_own(const char *folder)
{
	struct stat st;

	return !lstat(folder, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 022);
}

static bool made_folder; /* of the administrator's socket; systemd's stays */

/* Makes the folder of @at. 0 or -errno. */
static int make_folder(struct sockaddr_un *at)
{
	char *slash = strrchr(at->sun_path, '/');
	int err = 0;

	*slash = '\0';
	made_folder = !mkdir(at->sun_path, 0700);
	if (!made_folder && errno != EEXIST)
		err = -errno;
	else if (!is_own(at->sun_path))
		err = -EPERM;
	*slash = '/';
	return err;
}

int wv_admin_socket_listen(const char *socket)
{
	struct sockaddr_un at;
	int err = wv_admin_socket(&at, socket);

	if (!err)
		err = make_folder(&at);
	if (err)
		return err;
	unlink(at.sun_path); /* a killed daemon's */
	return listen_for(&at, geteuid());
}

void wv_admin_socket_remove(const char *socket)
{
	struct sockaddr_un at;

	if (wv_admin_socket(&at, socket))
		return;
	unlink(at.sun_path);
	*strrchr(at.sun_path, '/') = '\0';
	if (made_folder)
		rmdir(at.sun_path);
}
