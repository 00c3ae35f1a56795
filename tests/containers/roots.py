# SPDX-License-Identifier: BSD-2-Clause
"""Root folders for containers, of a few files each."""

import pathlib
import re
import shutil
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = ("dev", "etc", "proc", "run", "sys", "tmp", "usr")
RDMA_CORE = pathlib.Path("/usr/lib/x86_64-linux-gnu/libibverbs")
TEMPLATE, START = "/usr/local/bin/warmverbs-template", "/usr/local/bin/warmverbs-start"
TEMPLATE_LIBRARY = "libwarmverbs-template.so.0"
LOADER = pathlib.Path("/lib64/ld-linux-x86-64.so.2")


def libraries(program, source):
    """What the dynamic linker of the system at @source loads for a program in it, the linker too."""
    out = subprocess.run(["chroot", source, "ldd", program], capture_output=True, text=True, check=True).stdout
    return re.findall(r"(/\S+) \(0x", out)


class Root:
    """An image; what is added comes from the system at @source, with the libraries that it needs there."""

    def __init__(self, folder, source="/"):
        self.folder = folder
        self._source = pathlib.Path(source)
        for name in FOLDERS:
            (folder / name).mkdir(parents=True)
        for name in ("bin", "lib", "lib64", "sbin"):
            (folder / "usr" / name).mkdir()
            (folder / name).symlink_to(f"usr/{name}")

    def copy(self, path, to=None):
        target = self.folder / str(to or path).lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(self._source / str(path).lstrip("/"), target)

    def add(self, *paths):
        """Programs of the system at @source."""
        for path in paths:
            self.copy(path)
            for library in libraries(path, self._source):
                self.copy(library)
        return self

    def add_ours(self, *paths):
        """Programs of this machine, without libraries."""
        for path in paths:
            shutil.copy2(path, self.folder / "usr/bin" / pathlib.Path(path).name)
        return self

    def add_rdma_core(self):
        """The name of a provider has the ABI between it and libibverbs, which differs between releases."""
        [provider] = (self._source / str(RDMA_CORE).lstrip("/")).glob("librxe-rdmav*.so")
        self.add(RDMA_CORE.with_name("libibverbs.so.1"), RDMA_CORE / provider.name)
        self.copy("/etc/libibverbs.d/rxe.driver")
        return self


def debian(folder, build, source="/"):
    """A Debian with rdma-core, and a program of ours."""
    return Root(folder, source).add("/usr/bin/env").add_rdma_core().add_ours(build.program("objects"))


def with_command_line(folder, build):
    """And the command line as it is installed on the node, without the library."""
    return debian(folder, build).add("/usr/local/bin/warmverbs")


def without_rdma_core(folder):
    return Root(folder).add("/usr/bin/env")


def musl(folder):
    root = Root(folder).add_ours("/bin/busybox")
    shutil.copy2("/lib/ld-musl-x86_64.so.1", folder / "usr/lib", follow_symlinks=True)
    subprocess.run(["musl-gcc", "-o", folder / "usr/bin/hello", HERE / "hello.c"], check=True)
    return root


def with_templates(folder):
    """A shell, and programs for templates as they are installed on the node."""
    [library] = pathlib.Path("/usr/local/lib").rglob(TEMPLATE_LIBRARY)
    root = Root(folder).add("/bin/sh", "/usr/bin/env", TEMPLATE, library)
    root.copy(START)  # which may be static: it has no libraries then
    return root
