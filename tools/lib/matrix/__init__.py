# SPDX-License-Identifier: BSD-2-Clause
"""tools/matrix: the tests on other releases of Debian.

main: the command line. releases: which there are. root: root folders, made with mmdebstrap. enter: the program that
runs a command in one. suites: what is built and run there, and its results. table: the table in docs/compatibility.md.
"""
