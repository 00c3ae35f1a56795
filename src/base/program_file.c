/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/program_file.h"

#include "base/base.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* What the kernel would not execute must not make this process wait either. */
#define AT_ONCE (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

#if defined(__x86_64__) && defined(__LP64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#endif
#define OWN_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

/* The dynamic linker ignores LD_PRELOAD for a program that has more privileges than its caller. */
static bool is_privileged(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return false;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		return true;
	if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP && st.st_gid != getegid())
		return true;
	return geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

static bool has_interpreter(int fd, const ElfW(Ehdr) * elf)
{
	for (unsigned int i = 0; i < elf->e_phnum; i++) {
		off_t at = (off_t)(elf->e_phoff + i * (size_t)elf->e_phentsize);
		ElfW(Phdr) segment;

		if (pread(fd, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment))
			return false;
		if (segment.p_type == PT_INTERP)
			return true;
	}
	return false;
}

static const char *elf_obstacle(int fd, const ElfW(Ehdr) * elf)
{
	if (elf->e_ident[EI_CLASS] != OWN_CLASS)
		return "of another word size";
#ifdef OWN_MACHINE
	if (elf->e_machine != OWN_MACHINE)
		return "for another processor";
#endif
	if (!has_interpreter(fd, elf))
		return "statically linked";
	return is_privileged(fd) ? "privileged (setuid, setgid or file capabilities)" : NULL;
}

/* The interpreter that @text, a script's first line, names. */
static const char *script_interpreter(char *text)
{
	char *path = text + 2 + strspn(text + 2, " \t");

	path[strcspn(path, " \t\r\n")] = '\0';
	return path;
}

const char *wv_program_obstacle(const char *path)
{
	union {
		ElfW(Ehdr) elf;
		char text[PATH_MAX];
	} head;
	wv_auto_fd fd = open(path, AT_ONCE);
	ssize_t got = fd < 0 ? 0 : pread(fd, &head, sizeof(head) - 1, 0);

	if (got >= (ssize_t)sizeof(head.elf) && !memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
		return elf_obstacle(fd, &head.elf);
	if (got < 2 || memcmp(head.text, "#!", 2))
		return NULL;
	head.text[got] = '\0';
	/* An interpreter that is itself a script is rare: no obstacle is reported then. */
	wv_auto_fd interpreter = open(script_interpreter(head.text), AT_ONCE);
	got = interpreter < 0 ? 0 : pread(interpreter, &head.elf, sizeof(head.elf), 0);
	if (got < (ssize_t)sizeof(head.elf) || memcmp(head.elf.e_ident, ELFMAG, SELFMAG))
		return NULL;
	return elf_obstacle(interpreter, &head.elf);
}

bool wv_program_is_elf(const char *path)
{
	char magic[SELFMAG];
	wv_auto_fd fd = open(path, AT_ONCE);

	return fd >= 0 && pread(fd, magic, SELFMAG, 0) == SELFMAG &&
	       !memcmp(magic, ELFMAG, SELFMAG);
}
