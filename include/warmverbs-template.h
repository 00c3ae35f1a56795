/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warmverbs: templates, programs that start in less time than exec takes. See
 * warmverbs-template(1).
 *
 * The first functions are for a program that is to be a template; they are in
 * libwarmverbs-template.so.0, which warmverbs-template(1) preloads. A program finds them by
 * dlsym(3) or by a weak reference, which is NULL if it was started otherwise. The others are for
 * programs that start programs, and are in libwarmverbs-start.so.0 (pkg-config: warmverbs-start).
 */
#ifndef WARMVERBS_TEMPLATE_H
#define WARMVERBS_TEMPLATE_H

#include <signal.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * wv_template_point - the stop point of a template
 * @argc, @argv: the arguments of main()
 *
 * In a template (warmverbs-template --at point), does not return. It returns in each process that
 * starts from the template: with other arguments in @argc and @argv, another environment, and the
 * descriptors, working directory and so on of that start. So call it before anything that depends
 * on them, and with one thread, no children, no timers, and no file open.
 *
 * Returns 1 in a start; 0 in a process that is no template, where nothing has happened.
 */
int wv_template_point(int *argc, char ***argv);

/**
 * wv_template_note - the program has read a variable of its environment
 * @name: of the variable; NULL: of all, as in a loop through environ
 *
 * Only starts in which it has the same value are then served. getenv(3) does this by itself; this
 * function is for programs that read their environment otherwise.
 */
void wv_template_note(const char *name);

/**
 * wv_template_depend - the program has read a file
 * @path: absolute; of a file, or of a folder in which it has looked for files, or where there was
 * none
 *
 * Once it changes, the template ends: for a folder, once a file in it comes or goes. Files that are
 * mapped need not be named. Does nothing in a process that is not to become a template.
 *
 * Returns 0; or an errno value, with which the process should end: ESTALE if the file may have
 * changed since it was read, EREMOTE if other nodes may change it unseen, EINVAL if
 * the path is relative, E2BIG if there are too many, or as inotify_add_watch(2).
 */
int wv_template_depend(const char *path);

/**
 * wv_template_expect - each start must name a file by an argument
 * @index: of the argument, from 0
 * @path: of the file, absolute
 *
 * For interpreters that have read a script before the stop point. Only starts that name it by this
 * path are served, or by one that becomes this path behind their working directory.
 *
 * Returns 0, or an errno value: EINVAL if the path is relative, or as access(2).
 */
int wv_template_expect(int index, const char *path);

/* What to start. */
struct wv_template_request {
	const char *path;  /* of the program, as for execve(2) */
	char *const *argv; /* ends in NULL */
	char *const *envp; /* the same */
	const int *
	    fds; /* fds[i] becomes descriptor i; -1: none. NULL: those that execve(2) leaves open */
	unsigned int n_fds;	 /* of @fds */
	unsigned int timeout_ms; /* for the template's answer */
	const sigset_t *mask;	 /* signals that it blocks; NULL: those of this thread */
};

/* A program that was started. */
struct wv_template_start {
	pid_t pid;
	int pidfd; /* of the program; -1 if this process had no descriptor left */
	/* Readable once the program has ended; if it is closed before, the program is killed. */
	int connection;
	char why[120]; /* it was not started: why the template refused it, or "" */
};

/**
 * wv_template_start - start a program from its template
 * @socket: path of the template's socket
 * @request: what to start
 * @start: filled in; end it with wv_template_close()
 *
 * The program starts as a child of its supervisor, not of this process. Apart from that, it is as
 * if this process had called fork(2) and execve(2): working directory, limits, signals that are
 * ignored, niceness and umask are this process's.
 *
 * Returns 0; or an errno value, after which nothing has happened and the caller executes the
 * program itself: ENOENT or ECONNREFUSED if there is no template, EPERM if it refuses (@start->why
 * says why), ETIMEDOUT, E2BIG if arguments, environment or descriptors are too many for a message,
 * or a value of open(2) or socket(2). May be called from any thread.
 */
int wv_template_start(const char *socket, const struct wv_template_request *request,
		      struct wv_template_start *start);

/**
 * wv_template_wait - wait until a program has ended
 * @start: of wv_template_start()
 * @status: filled in, as by waitpid(2)
 *
 * Returns 0; EPIPE if the supervisor has ended, so that nobody can tell, or if this is not the
 * first call; EBADF after wv_template_close(). Waits again after signals: poll @start->connection
 * first where that is not wanted.
 */
int wv_template_wait(struct wv_template_start *start, int *status);

/**
 * wv_template_close - close the descriptors of a start
 *
 * A program that has not ended is killed. Cannot fail.
 */
void wv_template_close(struct wv_template_start *start);

#ifdef __cplusplus
}
#endif

#endif
