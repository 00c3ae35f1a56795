/* SPDX-License-Identifier: BSD-2-Clause */
/* A preload that swallows fork handlers, by the name that pthread_atfork(3) ends in (glibc). */
int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso);

__attribute__((visibility("default"))) int
__register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *dso)
{
	(void)prepare;
	(void)parent;
	(void)child;
	(void)dso;
	return 0;
}
