/* SPDX-License-Identifier: BSD-2-Clause */
/* Descriptors of a library in a program's process. */
#pragma once

#include <stdint.h>

/*
 * Moves @fd away from the numbers of standard input, output and error, which libc puts other files
 * at, and closes, unseen by this library. Returns the new number: @fd itself if it is none of
 * these, or if there is no other.
 */
int wv_fd_off_standard(int fd);

/*
 * What tells the file @sock from all other sockets; 0 if @sock is no socket. Its number is another
 * file if the program has closed it without libc, unseen.
 */
uint64_t wv_socket_cookie(int sock);
