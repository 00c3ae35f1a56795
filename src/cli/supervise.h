/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running a program as a child that behaves as if it were this process.
 */
#pragma once

/*
 * Runs the program to its end. Signals that are sent to this process reach the program, and when
 * the program stops, this process stops, so that a shell's job control works. Returns 0 with the
 * program's *@status, as of waitpid(2); or an exit code after telling the user why the program was
 * not started. Signals are blocked from then on: wv_supervise_end_alike() or exit.
 */
int wv_supervise(char **program, int *status);

/* 128 + N if signal N ended the program, or else the program's exit status. */
int wv_supervise_exit_code(int status);

/*
 * Ends this process by the signal that ended the program, if one did, without another core dump.
 * Returns the exit code where no signal did, or where none can (process 1 of a container).
 */
int wv_supervise_end_alike(int status);
