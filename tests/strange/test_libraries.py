#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The preload beside other libraries, and in programs that load and unload libraries in unusual ways."""

import errno
import pathlib
import shutil
import subprocess
import unittest

from support import bed, cases

HERE = bed.BUILD / "tests/strange"
SOCKETS = str(HERE / "libsockets.so")
LIBC_32 = "/lib32/libc.so.6"  # prints its version if it is run
DEBIAN = pathlib.Path("/usr/lib/x86_64-linux-gnu")
LOOP = ("open pd cq srq qp:rc,srq move:init,rtr,rts fork:exit traffic"
        " destroy:qps destroy:cqs destroy:srq destroy:pd close")


def found(*names):
    """The first of these libraries that is installed, or None."""
    return next((str(path) for path in map(DEBIAN.joinpath, names) if path.exists()), None)


@unittest.skipIf(bed.SANITIZED, "a sanitizer's allocator must be the only one")
class Beside(bed.Case):
    def check(self, *names, env=None, prefix=(), passes_by=False, is_leased=True):
        """Another library in front of the preload, and behind it.

        One that passes by calls libc or the kernel itself where the preload wants to be called. In front of the
        stand-in it does the same, so that there is no device.
        """
        other = found(*names)
        if not other:
            self.skipTest(f"{names[0]} is not installed")
        self.compare_orders([other, bed.STANDIN], [other, bed.PRELOAD, bed.STANDIN], env, prefix, not passes_by,
                            not passes_by)
        self.compare_orders([bed.STANDIN, other], [bed.PRELOAD, bed.STANDIN, other], env, prefix, True, is_leased)

    def compare_orders(self, without, with_preload, env, prefix, works, is_leased):
        with self.subTest(" ".join(with_preload)):
            plain = self.run_beside(without, False, env, prefix)
            self.assertEqual((plain.status, plain.failures == []), (0, works), plain.lines + [plain.errors])
            for _ in cases.attempts(free=1) if is_leased else range(cases.PATIENCE):
                warm = self.run_beside(with_preload, True, env, prefix)
                self.assertEqual(warm.shape(), plain.shape(), warm.errors)
                if warm.leased:
                    break
                if is_leased:
                    self.await_leases()
            if works:
                self.assertEqual(warm.leased, is_leased)

    def passes_by(self, name):
        """Whether there is no device behind it: versions of a library differ in this."""
        other = found(name)
        return bool(other and self.run_beside([other, bed.STANDIN], False, None, ()).failures)

    def run_beside(self, libraries, warm, env, prefix):
        """The prefix may be a program that must not have these libraries, or has some of its own to add."""
        list_of = f"LD_PRELOAD={' '.join(libraries)}"
        return self.start(LOOP, warm, env=env, prefix=[*prefix, "env", list_of]).finish()

    def test_jemalloc(self):
        """jemalloc, in front or behind"""
        self.check("libjemalloc.so.2")

    def test_tcmalloc(self):
        """tcmalloc, behind"""
        self.check("libtcmalloc_minimal.so.4", passes_by=self.passes_by("libtcmalloc_minimal.so.4"))

    @unittest.skipUnless(shutil.which("fakeroot"), "fakeroot is not installed")
    def test_fakeroot(self):
        """fakeroot, in front or behind"""
        self.check("libfakeroot/libfakeroot-sysv.so", prefix=["fakeroot"])

    def test_socket_wrapper(self):
        """socket_wrapper, behind"""
        self.check("libsocket_wrapper.so", env={"SOCKET_WRAPPER_DIR": str(self.folder)}, passes_by=True,
                   is_leased=False)

    def test_nss_wrapper(self):
        """nss_wrapper, in front or behind"""
        self.check("libnss_wrapper.so", env={"NSS_WRAPPER_PASSWD": "/etc/passwd", "NSS_WRAPPER_GROUP": "/etc/group"})

    def test_uid_wrapper(self):
        """uid_wrapper, in front or behind"""
        self.check("libuid_wrapper.so", env={"UID_WRAPPER": "1", "UID_WRAPPER_ROOT": "1"})

    def test_sockets(self):
        """a library that keeps a table of all sockets, as libvma does, in front or behind"""
        self.check(SOCKETS)


class Loaded(bed.Case):
    """Plugins that use the device, are unloaded, and loaded again; then the program forks and ends."""

    def check(self, words, program, leased, last="forked, result 0"):
        plain = self.run_plain(words, program=program)
        self.assertEqual((plain.status, plain.lines[-1:]), (0, [last]), plain.errors)
        if leased:
            self.learn(words, program=program, n=leased)
        warm = self.run_leased(words, n=leased, program=program)
        self.assertEqual(warm.shape(), plain.shape(), warm.errors)

    def test_unloaded(self):
        """a plugin that brings libibverbs, and is unloaded by dlclose()"""
        self.check(f"usual {HERE / 'libplugin.so'}", str(HERE / "bare-plugins"), 2)

    @unittest.skipIf(bed.SANITIZED, "sanitizers refuse RTLD_DEEPBIND")
    def test_deep_calls(self):
        """a plugin with RTLD_DEEPBIND, in a program that links libibverbs"""
        self.check(f"deep {HERE / 'libplugin.so'}", str(HERE / "plugins"), 2)

    @unittest.skipIf(bed.SANITIZED, "sanitizers refuse RTLD_DEEPBIND")
    def test_deep_verbs(self):
        """a plugin with RTLD_DEEPBIND that brings libibverbs"""
        # Its calls reach the stand-in as little as the preload, so it finds no device.
        words, program = f"deep {HERE / 'libplugin.so'}", str(HERE / "bare-plugins")
        plain, warm = (run(words, program=program) for run in (self.run_plain, self.run_warm))
        self.assertEqual((plain.status, plain.lines[-1:]), (0, ["forked, result 1"]), plain.errors)
        self.assertEqual((warm.shape(), warm.events), (plain.shape(), []), warm.errors)

    @unittest.skipIf(bed.SANITIZED, "a sanitizer's runtime must not come with a plugin")
    def test_library_unloaded(self):
        """a plugin that is linked with libwarmverbs, and is unloaded by dlclose()"""
        words, program = f"stays {HERE / 'liblinked-plugin.so'}", str(HERE / "bare-plugins")
        env = {"WARMVERBS_SOCKET": str(self.daemon.socket), "WARMVERBS_NAME": self.name}
        linked = self.run_plain(words, program=program, env=env)
        self.assertEqual((linked.status, linked.lines[-1:]), (0, ["forked, result 0"]), linked.errors)
        self.assertEqual(self.daemon.recipes(self.name), [])


def why_not_32_bit():
    """Why no 32-bit program can be run; None: one can."""
    try:
        subprocess.run([LIBC_32], stdout=subprocess.DEVNULL, check=True, timeout=bed.LIMIT_S)
    except FileNotFoundError:
        return f"no {LIBC_32}, which would be a 32-bit program"
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return "this kernel does not run 32-bit programs"
    return None


class Foreign(bed.Case):
    """Programs into which nothing can be preloaded."""

    def test_static(self):
        """a statically linked program"""
        plain, warm = (run([], program=str(HERE / "standalone")) for run in (self.run_plain, self.run_warm))
        self.assertEqual((plain.status, plain.lines), (3, ["static"]))
        self.assertEqual((warm.shape(), warm.errors), (plain.shape(), plain.errors))

    def test_32_bit(self):
        """a 32-bit program with the 64-bit library"""
        if why := why_not_32_bit():
            self.skipTest(why)
        warm = subprocess.run([LIBC_32], env={**bed.CLEAN, "LD_PRELOAD": bed.PRELOAD}, capture_output=True, text=True,
                              check=True, timeout=bed.LIMIT_S)
        plain = subprocess.run([LIBC_32], env=bed.CLEAN, capture_output=True, text=True, check=True,
                               timeout=bed.LIMIT_S)
        self.assertEqual((warm.stdout, plain.stderr), (plain.stdout, ""))
        self.assertIn("cannot be preloaded", warm.stderr)


if __name__ == "__main__":
    bed.main()
