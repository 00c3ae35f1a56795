/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol between preload and server. Each thread of a program has a SOCK_SEQPACKET connection
 * of its own; a request is one message, and so is its reply. Preload and server are built from the
 * same tree, so the protocol needs neither versions nor a byte order.
 *
 * The uverbs file of a program is one end of a socket pair that carries no data. Its name is its
 * cookie (SO_COOKIE), which is the same in every process that holds a copy of the descriptor. An
 * event file is a pipe, and its name is its inode.
 */
#pragma once

#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STANDIN_NODE_DIR  "/dev/infiniband"
#define STANDIN_NODE_NAME "uverbs0"
#define STANDIN_NODE	  STANDIN_NODE_DIR "/" STANDIN_NODE_NAME
/*
 * Beside the server's socket: what stands for STANDIN_NODE_DIR. It has the node while the device is
 * there.
 */
#define STANDIN_NODES	"nodes"
#define STANDIN_MAJOR	231
#define STANDIN_MINOR	192
#define STANDIN_SOCKET	"STANDIN_SOCKET" /* environment: path of the server's socket */
#define STANDIN_MAX	(192u << 10)	 /* bytes of a request */
#define STANDIN_ANSWER	(12u << 10)	 /* bytes of a reply */
#define STANDIN_MAX_FDS 3

enum standin_op {
	STANDIN_OPEN,	 /* of the node; the reply has the uverbs file */
	STANDIN_IOCTL,	 /* the command, then what its attributes point to */
	STANDIN_MMAP,	 /* of a uverbs file; the reply has the file to map in its place */
	STANDIN_CPUINFO, /* /proc/cpuinfo is read: sleeps for the time that the model gives */
	STANDIN_CONTROL, /* text, from the command line; the reply is text too */
};

/* Where the client memory is that a command names, by its rank in the command's struct. */
enum standin_region { STANDIN_BUF, STANDIN_DB, STANDIN_REGIONS };

struct standin_memory {
	uint64_t va;
	/* Shared file memory: inode, its offset at @va, and bytes from @va to the mapping's end. */
	uint64_t device, inode, offset, bytes;
	uint64_t start; /* of the mapping */
	int32_t fd;	/* its rank among the descriptors sent, or -1 */
	uint32_t reserved;
};

struct standin_request {
	uint32_t op;
	uint32_t tid;
	uint64_t ufile;		 /* cookie */
	uint64_t offset, length; /* STANDIN_MMAP */
	uint32_t prot, flags;
	/* STANDIN_IOCTL: where user memory of this command is; zero for none. */
	struct standin_memory memory[STANDIN_REGIONS];
	/*
	 * STANDIN_IOCTL: the names of the descriptors that the command's attributes pass in. Behind
	 * this struct come the command's header and attributes as the program made them, and then,
	 * in order, what each attribute longer than its inline 8 bytes points to.
	 */
	uint64_t event_file, channel; /* inodes; 0: not a pipe, or none */
};

enum standin_out {
	STANDIN_BYTES,	/* to where the attribute points */
	STANDIN_HANDLE, /* to the attribute itself */
	STANDIN_FD, /* the number that the received descriptor has here, to the attribute itself */
	STANDIN_FD_WORD, /* the same, as a 32-bit word to where the attribute points */
};

struct standin_reply {
	int32_t error; /* 0, or an errno */
	uint32_t n_out;
	uint64_t offset; /* STANDIN_MMAP: in the file sent */
			 /* Then @n_out times: */
};

struct standin_out_record {
	uint16_t attr;	/* index in the command */
	uint16_t kind;	/* enum standin_out */
	uint32_t bytes; /* that follow; unpadded */
	uint64_t data;
};

/*
 * Without libc, since other preloaded libraries must not notice: they would not notice a kernel's
 * work either, and some refuse descriptors from a process that has not loaded them.
 */
static inline ssize_t standin_recvmsg(int sock, struct msghdr *message, int flags)
{
	return syscall(SYS_recvmsg, sock, message, flags);
}

/*
 * recvmsg() that polls for about 50 us before it sleeps: a kernel answers at once, and waking a
 * processor takes longer than the whole answer. Yields the processor between polls.
 */
static inline ssize_t standin_receive(int sock, struct msghdr *message)
{
	for (int look = 0; look < 60; look++) {
		ssize_t n = standin_recvmsg(sock, message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

		if (n >= 0 || (errno != EAGAIN && errno != EINTR))
			return n;
		sched_yield();
	}
	return standin_recvmsg(sock, message, MSG_CMSG_CLOEXEC);
}
