/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/doctor/check_daemon.h"

#include "base/base.h"
#include "cli/doctor/accounts.h"
#include "cli/doctor/listener.h"
#include "cli/doctor/surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#define LOG "journalctl -u warmverbsd"

/* The socket is there, and does not let this user connect. */
static void denied(struct wv_doctor *d, const struct stat *st)
{
	char group[WV_ACCOUNT_MAX], user[WV_ACCOUNT_MAX];

	wv_found(d, WV_MARK_FAIL, "this user may not connect to %s (mode %04o, group %s)",
		 d->socket, st->st_mode & 07777, wv_group_name(st->st_gid, group));
	if (!(st->st_mode & S_IWGRP))
		wv_remedy(d, "start warmverbsd with a --group that exists; the service has rdma");
	else if (wv_is_listed_member(st->st_gid))
		wv_remedy(d,
			  "this session is older than the membership: log in again, or newgrp %s",
			  group);
	else if (d->in_container)
		wv_remedy(d, "start the container with --group-add \"$(getent group rdma | cut -d: "
			     "-f3)\" (podman: --group-add keep-groups)");
	else
		wv_remedy(d, "as root: usermod -aG %s %s, then log in again", group,
			  wv_own_user(user));
}

static void no_socket(struct wv_doctor *d, int err)
{
	wv_found(d, WV_MARK_FAIL, "%s: %s", d->socket, strerror(err));
	if (err == EACCES)
		wv_remedy(d, "a folder of this path is closed to this user: choose another one by "
			     "--socket of warmverbsd");
	else if (d->in_container)
		wv_remedy(d, WV_CONTAINER_REMEDY);
	else
		wv_remedy(d,
			  "%ssystemctl enable --now warmverbsd; if it listens elsewhere, set "
			  "WARMVERBS_SOCKET",
			  wv_as_root());
}

void wv_check_socket(struct wv_doctor *d)
{
	struct stat st;

	if (stat(d->socket, &st)) {
		no_socket(d, errno);
	} else if (!S_ISSOCK(st.st_mode)) {
		wv_found(d, WV_MARK_FAIL, "%s is not a socket", d->socket);
		wv_remedy(d, "set WARMVERBS_SOCKET to the daemon's socket");
	} else if (d->status_error == -EACCES) {
		denied(d, &st);
	} else if (d->status_error == -ECONNREFUSED) {
		wv_found(d, WV_MARK_FAIL, "nobody listens at %s: the daemon has ended", d->socket);
		wv_remedy(d, "%ssystemctl start warmverbsd; if it does not start: " LOG " -p err",
			  wv_as_root());
	} else if (d->status_error == -EPROTOTYPE || d->status_error == -ENAMETOOLONG) {
		wv_found(d, WV_MARK_FAIL, "%s is not a socket of warmverbsd: %s", d->socket,
			 strerror(-d->status_error));
		wv_remedy(d, "set WARMVERBS_SOCKET to the daemon's socket");
	} else {
		wv_found(d, WV_MARK_OK, "%s, which this user may use", d->socket);
	}
}

static void silent(struct wv_doctor *d)
{
	pid_t pid = wv_stopped_listener(d);

	if (pid) {
		wv_found(d, WV_MARK_FAIL, "it does not answer: process %d is stopped", (int)pid);
		wv_remedy(d, "%skill -CONT %d", wv_as_root(), (int)pid);
		return;
	}
	wv_found(d, WV_MARK_FAIL, "it does not answer: it is stopped, or overloaded");
	wv_remedy(d, "%ssystemctl restart warmverbsd; why: " LOG, wv_as_root());
}

static void other_version(struct wv_doctor *d)
{
	wv_found(d, WV_MARK_FAIL,
		 "it closed the connection or sent something else: most likely it is of another "
		 "version (this is " WV_VERSION ", protocol %d)",
		 WV_WIRE_VERSION);
	wv_remedy(d,
		  "%ssystemctl restart warmverbsd; in a container, install the node's version of "
		  "warmverbs; otherwise: " LOG,
		  wv_as_root());
}

/* What the socket's check has said already is not said again. */
static void no_answer(struct wv_doctor *d)
{
	switch (-d->status_error) {
	case EAGAIN:
	case ETIMEDOUT:
		silent(d);
		break;
	case EPROTO:
	case ECONNRESET:
	case EPIPE:
		other_version(d);
		break;
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case ECONNREFUSED:
	case EPROTOTYPE:
	case ENAMETOOLONG:
		break;
	default:
		wv_found(d, WV_MARK_FAIL, "it does not answer: %s", strerror(-d->status_error));
		wv_remedy(d, "see its log: " LOG);
		break;
	}
}

static const char *text_of(json_t *object, const char *name, const char *otherwise)
{
	return json_string_value(json_object_get(object, name)) ?: otherwise;
}

static unsigned long long number(json_t *object, const char *name)
{
	json_int_t value = json_integer_value(json_object_get(object, name));

	return value > 0 ? (unsigned long long)value : 0;
}

void wv_check_answer(struct wv_doctor *d)
{
	const char *version = text_of(d->status, "version", "?");
	unsigned long long up = number(d->status, "uptime_s");

	if (!d->status) {
		no_answer(d);
		return;
	}
	if (strcmp(version, WV_VERSION) != 0) {
		wv_found(d, WV_MARK_NOTE, "it is version %s, this is " WV_VERSION, version);
		wv_remedy(d, "%ssystemctl restart warmverbsd", wv_as_root());
		return;
	}
	wv_found(d, WV_MARK_OK, "warmverbsd %s answers, up %llu:%02llu:%02llu", version, up / 3600,
		 up / 60 % 60, up % 60);
}

void wv_check_provider_list(struct wv_doctor *d)
{
	const char *slash = strrchr(d->socket, '/');
	char folder[PATH_MAX], path[PATH_MAX + 16];
	wv_auto_fd fd = -1;

	if (!d->status || !slash)
		return;
	snprintf(folder, sizeof(folder), "%.*s/", (int)(slash - d->socket), d->socket);
	snprintf(path, sizeof(path), "%s" WV_PROVIDERS_FILE, folder);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		wv_found(d, WV_MARK_FAIL, "programs cannot read %s: %s", path, strerror(errno));
		if (d->in_container)
			wv_remedy(d, WV_CONTAINER_REMEDY);
		else
			wv_remedy(d, "%ssystemctl restart warmverbsd", wv_as_root());
	} else if (!wv_provider_list_is_trusted(fd, folder)) {
		wv_found(d, WV_MARK_FAIL, "programs do not trust %s: others may write it", path);
		wv_remedy(d,
			  "%schmod go-w %s; it must be root's, this user's, or the folder "
			  "owner's",
			  wv_as_root(), path);
	} else {
		wv_found(d, WV_MARK_OK, "%s", path);
	}
}

static void not_leased(struct wv_doctor *d, const struct wv_seen_device *device, json_t *status)
{
	wv_found(d, WV_MARK_NOTE, "%s is not leased: %s", device->ibdev,
		 text_of(status, "unleased_because", "?"));
	wv_remedy(d, "%s", text_of(status, "remedy", "none: programs use plain verbs on it"));
}

/* Whether the device is leased; says why not. */
static bool check_leased(struct wv_doctor *d, const struct wv_seen_device *device)
{
	json_t *status = wv_seen_device_status(d->status, device);

	if (status && !json_is_true(json_object_get(status, "leased"))) {
		not_leased(d, device, status);
		return false;
	}
	if (json_is_string(json_object_get(status, "provider")))
		return true;
	if (status) {
		wv_found(d, WV_MARK_NOTE, "the daemon did not find the provider of %s",
			 device->ibdev);
		wv_remedy(d,
			  "%sinstall the provider on the node, or correct --provider-dir of "
			  "warmverbsd; then systemctl restart warmverbsd",
			  wv_as_root());
		return false;
	}
	wv_found(d, WV_MARK_NOTE, "the daemon does not know %s", device->ibdev);
	wv_remedy(d,
		  "see " LOG "; the daemon must be able to open /dev/infiniband/%s, and be in "
		  "the device's network namespace",
		  device->node);
	return false;
}

void wv_check_leasing(struct wv_doctor *d)
{
	unsigned int leased = 0, before = d->n_findings;

	if (!d->status || !d->n_devices)
		return;
	for (unsigned int i = 0; i < d->n_devices; i++)
		leased += check_leased(d, &d->devices[i]);
	if (leased)
		wv_found(d, WV_MARK_OK, "the daemon leases %u of %u devices", leased, d->n_devices);
	for (unsigned int i = before; !leased && i < d->n_findings; i++)
		d->findings[i].mark = WV_MARK_FAIL; /* no device is left to get a lease on */
}

/* Says what keeps a recipe from being prepared. */
static void check_recipe(struct wv_doctor *d, json_t *recipe)
{
	const char *why = text_of(recipe, "unfit", text_of(recipe, "error", NULL));

	if (!why)
		return;
	wv_found(d, WV_MARK_NOTE, "%s is not prepared: %s", text_of(recipe, "comm", "?"), why);
	wv_remedy(d,
		  "warmverbs recipes forget %s, and run the program again; if this does not "
		  "help: warmverbs explain -- PROGRAM",
		  text_of(recipe, "id", "ID"));
}

void wv_check_recipes(struct wv_doctor *d)
{
	unsigned long long ready = 0, n = 0;
	json_t *recipe;
	size_t i;

	if (!d->status)
		return;
	json_array_foreach (json_object_get(d->status, "recipes"), i, recipe) {
		if (number(recipe, "uid") != geteuid())
			continue;
		n++;
		ready += number(json_object_get(recipe, "pool"), "ready");
		check_recipe(d, recipe);
	}
	wv_found(d, ready ? WV_MARK_OK : WV_MARK_NOTE,
		 "%llu recipes of this user, %llu leases ready", n, ready);
	if (!n)
		wv_remedy(d, "warmverbs run -- PROGRAM: the first run is recorded, the next gets a "
			     "lease");
	else if (!ready)
		wv_remedy(d, "run the program again: pools that are not used are emptied; see also "
			     "'warmverbs status'");
}

/* Returns whether the peer is connected; says why not, if anything has failed. */
static bool check_peer(struct wv_doctor *d, json_t *peer)
{
	const char *node = text_of(peer, "node", "?"), *why = text_of(peer, "why", NULL);
	const char *state = text_of(peer, "state", "?");

	if (!strcmp(state, "up"))
		return true;
	if (why) {
		wv_found(d, WV_MARK_NOTE, "%s is not connected: %s", node, why);
		wv_remedy(d,
			  "on %s: warmverbs doctor; a firewall must let TCP port %d through in "
			  "both directions",
			  node, (int)json_integer_value(json_object_get(peer, "port")));
	}
	return false;
}

static void check_credentials(struct wv_doctor *d)
{
	const char *why = text_of(d->peers, "credentials", NULL);

	if (!why)
		return;
	wv_found(d, WV_MARK_NOTE, "the credentials for peers are not used: %s", why);
	wv_remedy(d, "correct the files that warmverbsd.conf(5) names (peer-ca, peer-certificate, "
		     "peer-key)");
}

void wv_check_peers(struct wv_doctor *d)
{
	json_t *all = json_object_get(d->peers, "peers"), *peer;
	unsigned int up = 0, n = 0;
	size_t i;

	if (!json_is_true(json_object_get(d->peers, "on")))
		return;
	check_credentials(d);
	json_array_foreach (all, i, peer) {
		const char *state = text_of(peer, "state", "");

		/* This node itself, and further addresses of others, are no peers. */
		if (!strcmp(state, "this node") || !strcmp(state, "another address"))
			continue;
		n++;
		up += check_peer(d, peer);
	}
	wv_found(d, up == n ? WV_MARK_OK : WV_MARK_NOTE, "%u of %u peers are connected", up, n);
}
