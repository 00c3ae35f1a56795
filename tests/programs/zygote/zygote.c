/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that forks others on request. Its standard input is a SOCK_SEQPACKET socket. A request
 * is one message of words, each ended by a NUL; the answer is one number.
 *
 *   fork WORD...	 forks a child, which does the words; the descriptor in the message becomes
 *			 its standard input and output. Answers its pid
 *   zygote		 the same, but the child is a zygote, and the descriptor its socket
 *   nest		 from now on forks in a handler of fork(), two deep; answers 0
 *   unseen WORD...	 a child of _Fork() forks one that does the words; answers how many failed
 *   wait PID		 waits for a child; answers its status
 *   do WORD...		 does the words itself; answers how many failed
 *   close		 closes all descriptors but the standard ones; answers 0
 *   place US [raw [FD]]
 *			 after so many microseconds puts a file of its own at many numbers, or at
 *			 this one (raw: unseen by libc); answers 0
 *   sweep FD N WORD...	 closes all from this number on, up to those, unseen by libc, puts files of
 *			 its own at the N lowest numbers that are free, and does the words itself;
 *			 answers how many failed
 *   missing		 answers at how many of these it is not, here or in a child, and closes them
 *   thread, rest	 starts or ends a thread that forks children that exit at once; answers 0
 *   storm N SECONDS AT_ONCE MICROSECONDS WORD...
 *			 forks N children, or as many as it can in so many seconds, each killed at
 *			 some moment of that time; answers how many failed
 *
 * It is a plain verbs program and knows nothing of warmverbs.
 */
#include "../words/words.h"
#include "storm.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_BYTES  8192
#define MAX_WORDS  256
#define NEW_ZYGOTE (-2) /* no answer: this process is a new zygote, which nobody has asked */

struct message {
	char text[MAX_BYTES];
	char *words[MAX_WORDS]; /* the first is the name */
	int n;
	int fd; /* that came with it, or -1 */
};

static int descriptor_of(struct msghdr *header)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(header);
	int fd = -1;

	if (control && control->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(control), sizeof(fd));
	return fd;
}

/* Receives a message; false after the last one. */
static int receive(struct message *message)
{
	char control[CMSG_SPACE(sizeof(int))];
	struct iovec bytes = {message->text, sizeof(message->text)};
	struct msghdr header = {.msg_iov = &bytes,
				.msg_iovlen = 1,
				.msg_control = control,
				.msg_controllen = sizeof(control)};
	ssize_t size = recvmsg(STDIN_FILENO, &header, MSG_CMSG_CLOEXEC);

	message->n = 0;
	message->fd = size > 0 ? descriptor_of(&header) : -1;
	for (char *at = message->text;
	     size > 0 && at < message->text + size && message->n < MAX_WORDS; at += strlen(at) + 1)
		message->words[message->n++] = at;
	return message->n;
}

static pid_t child_with(int *fds, int n, int from)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child)
		return child;
	alarm(LIMIT_S);
	for (int i = 0; i < n; i++)
		dup2(from, fds[i]);
	close(from);
	return 0;
}

static int do_fork_words(struct message *m)
{
	int both[] = {STDIN_FILENO, STDOUT_FILENO};
	struct program program = {0};
	pid_t child = child_with(both, 2, m->fd);

	if (!child)
		exit(run_words(&program, m->words + 1, m->n - 1) != 0);
	return child;
}

/* Each fork forks, and that fork too. */
static void fork_before_fork(void)
{
	static int depth;
	pid_t child;

	if (depth == 2)
		return;
	depth++;
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	depth--;
}

static int do_nest(struct message *m)
{
	(void)m;
	return -pthread_atfork(fork_before_fork, NULL, NULL);
}

static int wait_for(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int do_unseen(struct message *m)
{
	static struct program own;
	pid_t child;

	fflush(stdout);
	child = _Fork();
	if (child)
		return wait_for(child);
	child = fork();
	if (child)
		_exit(wait_for(child));
	exit((int)run_words(&own, m->words + 1, m->n - 1));
}

static int do_zygote(struct message *m)
{
	int only[] = {STDIN_FILENO};
	pid_t child = child_with(only, 1, m->fd);

	return child ? child : NEW_ZYGOTE;
}

static int do_wait(struct message *m)
{
	int status;

	return waitpid(atoi(m->words[1]), &status, 0) < 0 ? -errno : status;
}

static int do_words_from(struct message *m, int first)
{
	static struct program own;
	int failures = (int)run_words(&own, m->words + first, m->n - first);

	fflush(stdout);
	return failures;
}

static int do_words(struct message *m)
{
	return do_words_from(m, 1);
}

static int do_close_all(struct message *m)
{
	(void)m;
	closefrom(STDERR_FILENO + 1);
	return 0;
}

#define FIRST_PLACE (STDERR_FILENO + 1)
#define LAST_PLACE  40

static bool placed[LAST_PLACE + 1];
static ino_t own_inode; /* of the file at all these places */

static void place(int file, int fd, bool raw)
{
	if (raw)
		syscall(SYS_dup3, file, fd, O_CLOEXEC);
	else
		dup3(file, fd, O_CLOEXEC);
	placed[fd] = true;
}

static int own_file(void)
{
	int file = memfd_create("own", MFD_CLOEXEC);
	struct stat st;

	fstat(file, &st);
	own_inode = st.st_ino;
	return file;
}

static int do_place(struct message *m)
{
	int file = own_file();
	bool raw = m->n > 2;

	usleep((useconds_t)atoi(m->words[1]));
	if (m->n > 3)
		place(file, atoi(m->words[3]), raw);
	else
		for (int fd = FIRST_PLACE; fd <= LAST_PLACE; fd++)
			place(file, fd, raw);
	return 0;
}

static int do_sweep(struct message *m)
{
	int file = -1;

	syscall(SYS_close_range, atoi(m->words[1]), LAST_PLACE, 0);
	for (int n = atoi(m->words[2]); n; n--) {
		file = file < 0 ? own_file() : dup(file);
		placed[file] = true;
	}
	return do_words_from(m, 3);
}

static int missing(void)
{
	struct stat st;
	int n = 0;

	for (int fd = FIRST_PLACE; fd <= LAST_PLACE; fd++)
		n += placed[fd] && (fstat(fd, &st) || st.st_ino != own_inode);
	return n;
}

static int do_missing(struct message *m)
{
	int here = missing(), there;
	pid_t child = fork();

	(void)m;
	if (!child)
		_exit(missing());
	there = wait_for(child);
	for (int fd = FIRST_PLACE; fd <= LAST_PLACE; fd++)
		if (placed[fd])
			close(fd);
	memset(placed, 0, sizeof(placed));
	return there < 0 ? there : here + there;
}

static pthread_t thread;
static atomic_bool at_rest;

static void *fork_on(void *argument)
{
	(void)argument;
	while (!at_rest) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return NULL;
}

static int do_thread(struct message *m)
{
	(void)m;
	at_rest = false;
	return -pthread_create(&thread, NULL, fork_on, NULL);
}

static int do_rest(struct message *m)
{
	(void)m;
	at_rest = true;
	return -pthread_join(thread, NULL);
}

static int do_storm(struct message *m)
{
	struct storm storm = {
	    .children = atoi(m->words[1]),
	    .seconds = atoi(m->words[2]),
	    .at_once = atoi(m->words[3]),
	    .microseconds = atoi(m->words[4]),
	    .words = m->words + 5,
	    .n_words = m->n - 5,
	};

	return storm_run(&storm);
}

static const struct {
	const char *name;
	int (*run)(struct message *m);
} commands[] = {
    {"fork", do_fork_words}, {"nest", do_nest},	      {"zygote", do_zygote},
    {"wait", do_wait},	     {"do", do_words},	      {"close", do_close_all},
    {"place", do_place},     {"missing", do_missing}, {"thread", do_thread},
    {"rest", do_rest},	     {"storm", do_storm},     {"unseen", do_unseen},
    {"sweep", do_sweep},
};

static int obey(struct message *m)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(commands[i].name, m->words[0]))
			return commands[i].run(m);
	return -EINVAL;
}

int main(void)
{
	static struct message message;

	while (receive(&message)) {
		int answer = obey(&message);

		if (message.fd >= 0 && answer != NEW_ZYGOTE)
			close(message.fd);
		if (answer != NEW_ZYGOTE &&
		    send(STDIN_FILENO, &answer, sizeof(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	return 0;
}
