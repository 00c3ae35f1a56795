/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What dlopen(), dlsym() and dlvsym() do for a program that is not linked with libibverbs: the
 * verbs of the preload in place of those of the first libibverbs, and nothing else is different.
 *
 * usage: lookups FILE LOOKALIKE COPY [HIDDEN]
 *        lookups LOOKALIKE: looks up before there is a libibverbs, and in one that is closed then
 *
 * FILE: whose verbs it gets, "libwarmverbs.so" or, without the preload, "libibverbs.so"
 * LOOKALIKE: a library that has verbs of its own; COPY: a copy of libibverbs
 * HIDDEN: the name of a library in the RUNPATH of lookups_library.c
 */
#include "lookups.h"
#include "support/check.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>

#define VERB	"ibv_open_device"
#define LIBRARY "libibverbs.so.1"

static void *verbs, *from_handler;

static bool is_from(void *fn, const char *file)
{
	const char *slash;
	Dl_info info;

	if (!fn || !dladdr(fn, &info))
		return false;
	slash = strrchr(info.dli_fname, '/');
	slash = slash ? slash + 1 : info.dli_fname;
	if (!strncmp(slash, file, strlen(file)))
		return true;
	fprintf(stderr, "it is from %s\n", slash);
	return false;
}

static void *loaded(const char *file)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		give_up(__FILE__, __LINE__, "%s", dlerror());
	return library;
}

static void check_verbs(const char *file)
{
	EXPECT(is_from(dlsym(verbs, VERB), file));
	EXPECT(is_from(dlvsym(verbs, VERB, "IBVERBS_1.1"), file));
	EXPECT(is_from(dlvsym(verbs, "ibv_create_comp_channel", "IBVERBS_1.0"), file));
	EXPECT(is_from(dlvsym(verbs, "ibv_reg_mr_iova2", "IBVERBS_1.8"), file));
}

/* Of another version, not interposed, or another library's. */
static void check_others(void)
{
	EXPECT(is_from(dlvsym(verbs, VERB, "IBVERBS_1.0"), "libibverbs.so"));
	EXPECT(is_from(dlsym(verbs, "ibv_query_device"), "libibverbs.so"));
	EXPECT(is_from(dlsym(verbs, "close"), "libc.so"));
}

static void check_failure(void *fn, const char *name)
{
	const char *error = dlerror();

	EXPECT(!fn && error && strstr(error, name));
	EXPECT(!dlerror());
}

static void check_errors(void)
{
	check_failure(dlsym(verbs, "ibv_nothing"), "ibv_nothing");
	check_failure(dlvsym(verbs, VERB, "IBVERBS_9.9"), VERB);
	check_failure(dlopen("libnothing.so", RTLD_LAZY), "libnothing.so");
	/* A success forgets an error that nobody asked for. */
	dlsym(verbs, "ibv_nothing");
	errno = EXDEV;
	EXPECT(dlsym(verbs, VERB) && !dlerror() && errno == EXDEV);
}

/* Looks up in another libibverbs, and in a library that has a verb of its own. */
static void check_strangers(const char *lookalike, const char *copy)
{
	EXPECT(is_from(dlsym(loaded(copy), VERB), "copy-of-libibverbs.so"));
	EXPECT(is_from(dlsym(loaded(lookalike), "ibv_reg_mr"), "libloader-verbs.so"));
	EXPECT(
	    is_from(dlvsym(loaded(lookalike), "ibv_reg_mr", "IBVERBS_1.1"), "libloader-verbs.so"));
}

static void check_namespace(void)
{
	void *library = dlmopen(LM_ID_NEWLM, LIBRARY, RTLD_NOW);
	void *fn = library ? dlsym(library, VERB) : NULL;

	EXPECT(fn && fn != dlvsym(verbs, VERB, "IBVERBS_1.1"));
	EXPECT(is_from(fn, "libibverbs.so"));
}

static void check_callers(const char *hidden)
{
	EXPECT(number_of_library() == 1);
	EXPECT(number_of_next() == 2);
	if (!hidden)
		return;
	EXPECT(!dlopen(hidden, RTLD_LAZY));
	EXPECT(load_by_runpath(hidden));
}

static void look_up_in_handler(int number)
{
	(void)number;
	from_handler = dlsym(verbs, VERB);
}

static void check_again(const char *file)
{
	EXPECT(!dlclose(verbs));
	verbs = loaded(LIBRARY);
	check_verbs(file);
}

/* What was found stays, wherever it was found: the preload calls libibverbs, too. */
static int check_first_and_last(const char *lookalike)
{
	void *library = loaded(lookalike), *fn;

	errno = EXDEV;
	fn = dlsym(library, "ibv_reg_mr");
	EXPECT(errno == EXDEV && is_from(fn, "libloader-verbs.so"));
	verbs = dlopen(LIBRARY, RTLD_NOW | RTLD_GLOBAL);
	EXPECT(verbs && dlsym(verbs, VERB));
	fn = dlsym(verbs, "ibv_query_device");
	EXPECT(!dlclose(verbs));
	EXPECT(is_from(fn, "libibverbs.so"));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2)
		return check_first_and_last(argv[1]);
	EXPECT(argc >= 4);
	EXPECT(is_from(verb_of_constructor(), argv[1]));
	verbs = loaded(LIBRARY);
	check_verbs(argv[1]);
	check_others();
	check_errors();
	check_strangers(argv[2], argv[3]);
	check_namespace();
	check_callers(argv[4]);
	signal(SIGUSR1, look_up_in_handler);
	raise(SIGUSR1);
	EXPECT(is_from(from_handler, argv[1]));
	check_again(argv[1]);
	return 0;
}
