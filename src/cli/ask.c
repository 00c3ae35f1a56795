/* SPDX-License-Identifier: BSD-2-Clause */
#include "cli/ask.h"

#include "base/base.h"
#include "cli/complain.h"
#include "cli/subcommand.h"
#include "store/json_memory.h"
#include "wire/wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define WAIT_MS	      5000
#define MAX_ANSWER    (64u << 20)
#define OTHER_VERSION "the daemon and this command are of different versions: restart the daemon"

static const struct {
	int err;
	const char *remedy;
} remedies[] = {
    {ENOENT, "start it with 'systemctl start warmverbsd', or give its socket with --socket"},
    {ECONNREFUSED, "the daemon has ended: start it with 'systemctl start warmverbsd'"},
    {EACCES, "join the group that owns the socket"},
    {ENAMETOOLONG, "choose a shorter path for the socket"},
    {EPROTO, OTHER_VERSION},
    {EAGAIN, "the daemon is stopped or overloaded: see its log"},
    {ETIMEDOUT, "the daemon is stopped or overloaded: see its log"},
    {ECONNRESET, "the daemon closed the connection: see its log"},
};

static int no_answer(const char *path, int err)
{
	const char *remedy = NULL;

	for (unsigned int i = 0; i < WV_ARRAY_SIZE(remedies); i++)
		if (remedies[i].err == -err)
			remedy = remedies[i].remedy;
	wv_complain(remedy, "no daemon answers at %s: %s", path, strerror(-err));
	return WV_EXIT_NO_DAEMON;
}

/* The timeout is for connect(), which waits for a stopped daemon when its backlog is full. */
static int connect_to(const char *path)
{
	const struct timeval timeout = {.tv_sec = WAIT_MS / 1000};
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	wv_auto_fd sock = -1;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, path);
	sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) ||
	    connect(sock, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	return wv_steal_fd(&sock);
}

static int send_question(int sock, json_t *question)
{
	wv_auto_free char *text = json_dumps(question, JSON_COMPACT);
	struct wv_msg head;

	if (!text)
		return -ENOMEM;
	wv_msg_init(&head, WV_MSG_CONTROL, sizeof(head) + strlen(text));
	return wv_send(sock, &head, sizeof(head), text, strlen(text), NULL, 0);
}

/* Reads the whole of @memory as text, wherever the sender left its file offset. */
static int read_text(int memory, char **text)
{
	wv_auto_free char *all = NULL;
	struct stat st;
	size_t at = 0;

	if (fstat(memory, &st))
		return -errno;
	if (st.st_size < 0 || st.st_size > MAX_ANSWER)
		return -EPROTO;
	all = calloc(1, (size_t)st.st_size + 1);
	if (!all)
		return -ENOMEM;
	while (at < (size_t)st.st_size) {
		ssize_t got = pread(memory, all + at, (size_t)st.st_size - at, (off_t)at);

		if (got <= 0)
			return got < 0 ? -errno : -EPROTO;
		at += (size_t)got;
	}
	*text = all;
	all = NULL;
	return 0;
}

/* The text of an answer, which is in the message or in a memfd that it carries. */
static int receive(int sock, char **text)
{
	static _Alignas(struct wv_msg) char message[WV_WIRE_MAX];
	struct pollfd wait = {.fd = sock, .events = POLLIN};
	wv_auto_fd memory = -1;
	unsigned int n_fds;
	size_t bytes;
	ssize_t got;

	if (poll(&wait, 1, WAIT_MS) <= 0)
		return -ETIMEDOUT;
	got = wv_recv(sock, message, sizeof(message), &memory, 1, &n_fds);
	if (got <= 0)
		return got < 0 ? (int)got : -ECONNRESET;
	bytes = (size_t)got - sizeof(struct wv_msg);
	if (wv_msg_check(message, (size_t)got) != WV_MSG_CONTROL || !bytes == !n_fds)
		return -EPROTO;
	if (n_fds)
		return read_text(memory, text);
	*text = strndup(message + sizeof(struct wv_msg), bytes);
	return *text ? 0 : -ENOMEM;
}

/* Puts @question on @sock, and leaves it. */
static int converse(int sock, json_t *question, struct wv_answer *answer)
{
	int err = send_question(sock, question);

	if (!err)
		err = receive(sock, &answer->text);
	if (err)
		return err;
	wv_json_begin();
	answer->document = json_loads(answer->text, 0, NULL);
	if (wv_json_was_short())
		return -ENOMEM;
	return json_is_object(answer->document) ? 0 : -EPROTO;
}

/* systemd starts the daemon for whoever connects to the common socket. 0 or -errno. */
static int wake(const char *path)
{
	wv_auto_fd sock = connect_to(path);
	json_t *question = json_pack("{s:s}", "op", "peers");
	struct wv_answer answer = {0};
	int err = sock < 0 ? sock : converse(sock, question, &answer);

	json_decref(question);
	wv_answer_finish(&answer);
	return err;
}

/* Of the folder of @path, which has one. */
static bool stat_folder(const char *path, struct stat *st)
{
	wv_auto_free char *folder = strndup(path, (size_t)(strrchr(path, '/') - path));

	return folder && !stat(folder, st);
}

/*
 * Whether root, this user or the owner of the folder of @path listens at the other end of @sock:
 * somebody else may have made a socket to answer in the daemon's place.
 */
static bool is_trusted(int sock, const char *path)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	struct stat st;

	return !getsockopt(sock, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) &&
	       stat_folder(path, &st) &&
	       (!peer.uid || peer.uid == geteuid() || peer.uid == st.st_uid);
}

/* That socket is for root and the daemon's user, and containers do not have it. */
static int connect_as_administrator(const struct sockaddr_un *at, const char *path)
{
	wv_auto_fd sock = connect_to(at->sun_path);

	return sock < 0 || is_trusted(sock, path) ? wv_steal_fd(&sock) : -EPERM;
}

/* Whether @err means that there is no daemon at @at now, but has been. */
static bool is_awaited(const struct sockaddr_un *at, int err)
{
	struct stat folder;

	return (err == -ENOENT || err == -ECONNREFUSED) && !geteuid() &&
	       stat_folder(at->sun_path, &folder);
}

static int connect_best(const char *path)
{
	struct sockaddr_un at;
	int sock = wv_admin_socket(&at, path), err;

	if (!sock)
		sock = connect_as_administrator(&at, path);
	if (is_awaited(&at, sock)) {
		err = wake(path);
		if (err)
			return err;
		sock = connect_as_administrator(&at, path);
	}
	return sock < 0 ? connect_to(path) : sock;
}

const char *wv_ask_path(const char *socket)
{
	const char *path = socket ? socket : getenv(WV_SOCKET_ENV);

	return path && *path ? path : WV_SOCKET_DEFAULT;
}

int wv_ask_quietly(const char *path, json_t *question, struct wv_answer *answer)
{
	wv_auto_fd sock = connect_best(path);
	int err = sock;

	*answer = (struct wv_answer){0};
	if (sock >= 0)
		err = converse(sock, question, answer);
	json_decref(question);
	return err;
}

int wv_ask(const char *socket, json_t *question, struct wv_answer *answer)
{
	const char *path = wv_ask_path(socket);
	int err = wv_ask_quietly(path, question, answer);
	json_t *error;

	if (err)
		return no_answer(path, err);
	error = json_object_get(answer->document, "error");
	if (!error)
		return 0;
	wv_complain(json_string_value(json_object_get(answer->document, "remedy")), "%s",
		    json_string_value(error) ?: "the daemon refused the request");
	return WV_EXIT_FAILED;
}

int wv_answer_print(const struct wv_answer *answer, wv_answer_print_fn print)
{
	int err = print ? print(answer->document, stdout) : fputs(answer->text, stdout) < 0;

	if (!print)
		putchar('\n');
	if (err != -EPROTO && fflush(stdout))
		err = -errno;
	if (err)
		wv_complain(err == -EPROTO ? OTHER_VERSION : NULL, "cannot print the answer: %s",
			    strerror(-err));
	return err ? WV_EXIT_FAILED : 0;
}

void wv_answer_finish(struct wv_answer *answer)
{
	json_decref(answer->document);
	free(answer->text);
}
