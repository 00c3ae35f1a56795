# SPDX-License-Identifier: BSD-2-Clause
"""The guest's kernel and initramfs, made from Debian's kernel package and kept in the cache."""

import dataclasses
import gzip
import hashlib
import lzma
import os
import pathlib
import platform
import shutil
import zlib

from . import cache
from .process import output, require
from .report import LabError, Progress

META_PACKAGE = "linux-image-amd64"
BUSYBOX = pathlib.Path("/bin/busybox")
GUEST = pathlib.Path(__file__).parent / "guest"
GUEST_FILES = [GUEST / name for name in ("init", "session", "lab.service", "agent", "lab-peer")]

# What the guest loads before it sees the host's files; what these need is found with modprobe.
MODULES = (
    ("virtio_pci", ""),
    ("virtio_console", ""),
    ("9pnet_virtio", ""),
    ("9p", ""),
    ("overlay", ""),
    # rdma_rxe requests it from the crypto layer by name, a dependency that modprobe cannot know.
    ("crc32_generic", ""),
    ("dummy", "numdummies=0"),
    ("ib_uverbs", ""),
    ("rdma_ucm", ""),
    ("rdma_rxe", ""),
)
# Missing from the kernels that have it as a function, not as a module.
OPTIONAL = {"crc32_generic"}

# Compression of the kernel proper inside vmlinuz, by magic number.
UNPACKERS = (
    (b"\xfd7zXZ\x00", lambda data: lzma.LZMADecompressor().decompress(data)),
    (b"\x1f\x8b\x08", lambda data: zlib.decompressobj(wbits=31).decompress(data)),
)


@dataclasses.dataclass(frozen=True)
class Image:
    version: str  # of the kernel, as uname -r says it
    kernel: pathlib.Path
    modules: pathlib.Path
    initrd: pathlib.Path

    @property
    def folder(self):
        return self.initrd.parent


def ready():
    """An image to boot: with the cached kernel, which needs no network, or else with the one that apt offers."""
    check_machine()
    return make(chosen_version())


def chosen_version():
    return newest_cached_version() or offered_version()


def prepare():
    """An image with the kernel that apt offers now."""
    check_machine()
    return make(offered_version())


def make(version):
    """Kernel and initramfs are cached separately: a change of the initramfs must not fetch the kernel again."""
    if not kernel_folder(version).is_dir():
        fetch_kernel(version)
    image = image_of(version)
    if not image.initrd.exists():
        Progress.say(f"building the guest's initramfs for Linux {version}")
        with cache.new_entry(image.folder.name) as building:
            build_initrd(version, building)
        forget_others(image)
    return image


def forget_others(image):
    """Keep the cache at one kernel and one image: a kernel takes some 400 MB."""
    cache.remove(keep=(kernel_folder(image.version), image.folder))


def newest_cached_version():
    kernels = sorted(cache.folder().glob("kernel-*"), key=lambda path: path.stat().st_mtime)
    return kernels[-1].name[len("kernel-") :] if kernels else None


def check_machine():
    if platform.machine() != "x86_64":
        raise LabError(f"the virtual machine is for x86_64, not {platform.machine()}; see --native")
    require("apt-cache", "apt-get", "dpkg-deb", "depmod", "modprobe", "cpio", "busybox")


def offered_version():
    for package in dependencies(META_PACKAGE):
        if package.startswith("linux-image-"):
            return package[len("linux-image-") :]
    raise LabError(f"apt does not know {META_PACKAGE}; on Debian run: apt-get update")


def dependencies(package):
    for line in output(["apt-cache", "depends", package]).decode().splitlines():
        key, _, name = line.strip().partition(": ")
        if key == "Depends":
            yield name


def kernel_folder(version):
    return cache.folder() / f"kernel-{version}"


def modules_folder(root, version):
    return root / "lib" / "modules" / version


def image_of(version):
    kernel = kernel_folder(version)
    return Image(
        version=version,
        kernel=kernel / "vmlinux",
        modules=modules_folder(kernel, version),
        initrd=cache.folder() / f"image-{version}-{generator_hash()}" / "initrd.gz",
    )


def generator_hash():
    """A hash of everything that decides what is in an initramfs, except the kernel."""
    digest = hashlib.sha256()
    for path in (pathlib.Path(__file__), *GUEST_FILES, BUSYBOX):
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def fetch_kernel(version):
    Progress.say(f"downloading linux-image-{version}")
    with cache.new_entry(kernel_folder(version).name) as building:
        download(kernel_packages(version), building)
        packages = list(building.glob("*.deb"))
        Progress.say(f"unpacking linux-image-{version}")
        unpack_kernel(packages, version, building)
        for package in packages:
            package.unlink()


def download(packages, folder):
    # As root, apt would switch to a user who cannot enter this folder, and would warn.
    output(["apt-get", "-o", "APT::Sandbox::User=", "download", *packages], cwd=folder)


def kernel_packages(version):
    """Since Linux 7, linux-image is empty, and the kernel and its modules are in packages of their own."""
    image = f"linux-image-{version}"
    return [image, *(name for name in dependencies(image) if name.endswith(f"-{version}"))]


def unpack_kernel(packages, version, building):
    unpacked = building / "unpacked"
    for package in packages:
        output(["dpkg-deb", "-x", package, unpacked])
    (vmlinuz,) = unpacked.rglob("vmlinuz*")
    (building / "vmlinux").write_bytes(expand_kernel(vmlinuz.read_bytes()))
    (modules,) = [path for path in unpacked.glob(f"**/modules/{version}") if path.is_dir()]
    target = modules_folder(building, version)
    target.parent.mkdir(parents=True)
    modules.rename(target)
    output(["depmod", "-b", building, version])
    shutil.rmtree(unpacked)


def expand_kernel(vmlinuz):
    """The kernel proper, unpacked from vmlinuz. QEMU starts it directly (PVH), which saves an emulated CPU some 3 s of
    unpacking."""
    for magic, unpack in UNPACKERS:
        start = vmlinuz.find(magic)
        while start >= 0:
            kernel = try_unpack(unpack, vmlinuz[start:])
            if kernel.startswith(b"\x7fELF"):
                return kernel
            start = vmlinuz.find(magic, start + 1)
    return vmlinuz  # QEMU can start this too, but more slowly.


def try_unpack(unpack, data):
    try:
        return unpack(data)
    except (lzma.LZMAError, zlib.error):
        return b""


def build_initrd(version, building):
    tree = building / "tree"
    (tree / "bin").mkdir(parents=True)
    (tree / "modules").mkdir()
    shutil.copy(BUSYBOX, tree / "bin" / "busybox")
    for path in GUEST_FILES:
        shutil.copy(path, tree)
    copy_modules(version, tree / "modules")
    (building / "initrd.gz").write_bytes(gzip.compress(archive(tree), compresslevel=1))
    shutil.rmtree(tree)


def copy_modules(version, target):
    """Copy the guest's modules, and list them in the order to load them, with their options."""
    order = {}
    for name, options in MODULES:
        if name in OPTIONAL and not any(kernel_folder(version).rglob(f"{name}.ko*")):
            continue
        files = files_of_module(version, name)
        for path in files:
            (target / plain_name(path)).write_bytes(read_module(path))
            order.setdefault(plain_name(path), "")
        if files:
            order[plain_name(files[-1])] = options
    lines = (f"{file} {options}\n" for file, options in order.items())
    (target / "order").write_text("".join(lines))


def files_of_module(version, name):
    """A module's file, after the files that it needs; none for a module that is built into the kernel. -C ignores this
    machine's own module settings."""
    where = ("-C", os.devnull, "-d", kernel_folder(version), "-S", version)
    lines = output(["modprobe", *where, "--show-depends", name]).decode().splitlines()
    return [pathlib.Path(line.split()[1]) for line in lines if line.startswith("insmod ")]


def plain_name(path):
    return path.name.split(".ko")[0] + ".ko"


def read_module(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def archive(tree):
    """The tree in the kernel's format: a newc archive whose files belong to root."""
    names = "\0".join(sorted(str(path.relative_to(tree)) for path in tree.rglob("*")))
    options = ("--create", "--format=newc", "--null", "--quiet", "--owner=0:0", "--reproducible")
    return output(["cpio", *options], cwd=tree, input=f"{names}\0".encode())
