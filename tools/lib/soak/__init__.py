# SPDX-License-Identifier: BSD-2-Clause
"""tools/soak: everything at random for some time, then nothing left and no wrong result.

main: the command line. inside: what runs where the device is. plan: the seeded sequence of actions. programs: what is
run. run: performs the actions. crew: programs that run beside each other. jobs: one program, or one family, from start
to check. daemon: the daemon, and what it handed out. base: what exists, before and after. bed: the stand-in, soft-RoCE.
hostile: a malformed client (a program of its own). progress: the line on the terminal.
"""
