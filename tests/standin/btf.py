#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the kernel's types as a kernel with the driver mlx5_ib has them in /sys/kernel/btf.

    btf.py FOLDER [--without-mm]

The files are vmlinux and mlx5_ib, which extends it. With --without-mm, mlx5_ib is of a kernel that looks doorbell pages
up by their address alone. The format: Documentation/bpf/btf.rst of the kernel.
"""
import pathlib
import struct
import sys

INT, POINTER, STRUCT, FORWARD = 1, 2, 4, 7


class Btf:
    """The types of one file, in addition to those of its base."""

    def __init__(self, base=None):
        self._types = b""
        self._strings = b"" if base else b"\0"
        self._first_string = base.end_of_strings if base else 0
        self._last_id = base.last_id if base else 0

    @property
    def end_of_strings(self):
        return self._first_string + len(self._strings)

    @property
    def last_id(self):
        return self._last_id

    def _string(self, text):
        if not text:
            return 0
        offset = self.end_of_strings
        self._strings += text.encode() + b"\0"
        return offset

    def _add(self, name, kind, size_or_type, more=b"", n_members=0):
        self._types += struct.pack("=III", self._string(name), kind << 24 | n_members, size_or_type) + more
        self._last_id += 1
        return self._last_id

    def integer(self, name, size):
        return self._add(name, INT, size, struct.pack("=I", 8 * size))

    def forward(self, name):
        return self._add(name, FORWARD, 0)

    def pointer(self, to):
        return self._add("", POINTER, to)

    def structure(self, name, members):
        """Members: (name, type), each of eight bytes."""
        packed = b"".join(struct.pack("=III", self._string(member), of_type, 64 * i)
                          for i, (member, of_type) in enumerate(members))
        return self._add(name, STRUCT, 8 * len(members), packed, len(members))

    def write(self, path):
        header = struct.pack("=HBBIIIII", 0xeb9f, 1, 0, 24, 0, len(self._types), len(self._types), len(self._strings))
        path.write_bytes(header + self._types + self._strings)


def main(folder, *options):
    folder = pathlib.Path(folder)
    kernel = Btf()
    number = kernel.integer("unsigned long", 8)
    mm = kernel.pointer(kernel.forward("mm_struct"))
    driver = Btf(kernel)
    driver.structure("mlx5_ib_user_db_page",
                     [("user_virt", number), ("refcnt", number)] + [("mm", mm)] * ("--without-mm" not in options))
    folder.mkdir(parents=True, exist_ok=True)
    kernel.write(folder / "vmlinux")
    driver.write(folder / "mlx5_ib")


if __name__ == "__main__":
    main(*sys.argv[1:])
