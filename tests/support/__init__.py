# SPDX-License-Identifier: BSD-2-Clause
"""What the tests in Python share (PYTHONPATH is tests/).

cases: the main of every file of cases. bed: a daemon and programs on the stand-in. zygote: a parent that forks, and
its children. trace: what the preload did. wire: the protocol spoken by hand. client: a client that speaks it. ports:
TCP ports. tests/lab uses these but bed. hostile: a daemon among several users. users: who they are. attacks: what a
hostile one does. recordings: what programs send as theirs.
"""
