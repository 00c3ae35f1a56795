/* SPDX-License-Identifier: BSD-2-Clause */
/* The stop point of programs that do not know of templates: between constructors and main(). */
#include "base/base.h"
#include "template/point.h"

#include <dlfcn.h>

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *main, int argc, char **argv, void (*init)(void), void (*fini)(void),
		     void (*rtld_fini)(void), void *stack_end);

static main_fn *program;

static int stop_and_go_on(int argc, char **argv, char **environment)
{
	(void)environment;
	wv_template_main(&argc, &argv);
	return program(argc, argv, environ);
}

/* Called by the first instructions of every program (glibc: sysdeps/x86_64/start.S). */
WV_PUBLIC int __libc_start_main(main_fn *main, int argc, char **argv, void (*init)(void),
				void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_fn *next = (start_fn *)dlsym(RTLD_NEXT, "__libc_start_main");

	program = main;
	return next(stop_and_go_on, argc, argv, init, fini, rtld_fini, stack_end);
}
