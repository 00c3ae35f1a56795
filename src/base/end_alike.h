/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a process that stands for another one. */
#pragma once

/* 128 + N if signal N ended the program with this @status of waitpid(2), or its exit status. */
int wv_exit_code(int status);

/*
 * Ends this process by the signal that ended the program, if one did, without another core dump.
 * Returns the exit code where no signal did, or where none can (process 1 of a container).
 */
int wv_end_alike(int status);
