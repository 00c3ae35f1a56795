# SPDX-License-Identifier: BSD-2-Clause
"""The driver of software iWARP. Debian's kernels leave it out, so it is built from the source package of the same
kernel, as a module that modprobe finds in the guest."""

import pathlib
import shutil
import subprocess

from . import cache, image, process
from .report import LabError, Progress

FOLDER = "drivers/infiniband/sw/siw"
BUILD_PACKAGES = ("linux-headers-", "linux-kbuild-")


def add(kernel):
    """Builds it for the image.Image, unless that was done."""
    target = kernel.modules / "updates" / "siw.ko"
    if target.exists():
        return
    process.require("make", "strip", "tar")
    with cache.temporary_folder() as temporary:
        folder = pathlib.Path(temporary)
        module = build(kernel.version, folder)
        target.parent.mkdir(exist_ok=True)
        shutil.copy(module, target)
    process.output(["depmod", "-b", image.kernel_folder(kernel.version), kernel.version])


def build(version, folder):
    """Returns the path of the module."""
    headers = f"linux-headers-{version}"
    source = f"linux-source-{'.'.join(version.split('.')[:2])}"
    needed = [name for name in image.dependencies(headers) if name.startswith(BUILD_PACKAGES)]
    Progress.say(f"downloading {source}, {headers} and what they need")
    image.download([headers, *needed, f"{source}={version_of(headers)}"], folder)
    for package in folder.glob("*.deb"):
        process.output(["dpkg-deb", "-x", package, folder])
    packed = folder / "usr/src" / f"{source}.tar.xz"
    process.output(["tar", "--extract", "--file", packed, "--directory", folder, f"{source}/{FOLDER}"])
    Progress.say(f"building siw for Linux {version}")
    return make(folder / "usr/src" / headers, folder / source / FOLDER)


def version_of(package):
    lines = process.output(["apt-cache", "show", package]).decode().splitlines()
    return next(line.split()[1] for line in lines if line.startswith("Version: "))


def make(headers, source):
    # The headers of Debian name others by their path after installation.
    makefile = headers / "Makefile"
    makefile.write_text(makefile.read_text().replace("/usr/src", str(headers.parent)))
    words = ["make", "-C", str(headers), f"M={source}", "CONFIG_RDMA_SIW=m", "modules"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"siw cannot be built: {''.join(done.stderr.strip().splitlines()[-1:])}")
    process.output(["strip", "--strip-debug", source / "siw.ko"])
    return source / "siw.ko"
