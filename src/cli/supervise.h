/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Running a program as a child that behaves as if it were this process.
 */
#pragma once

/*
 * Runs the program to its end. Signals that are sent to this process reach the program, and when
 * the program stops, this process stops, so that a shell's job control works. Returns 0 with the
 * program's *@status, as of waitpid(2); or an exit code after telling the user why the program was
 * not started. Signals are blocked from then on: wv_end_alike() or exit.
 */
int wv_supervise(char **program, int *status);
