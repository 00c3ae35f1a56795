#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Programs that have nothing to do with RDMA do the same with the preload.

usage: check_programs.py LIBRARY
"""

import os
import shutil
import stat
import subprocess
import sys
import tempfile

PYTHON = r"""
import os, subprocess, threading
def work(n):
    for _ in range(20):
        r, w = os.pipe()
        os.write(w, b"%d" % n); assert os.read(r, 9) == b"%d" % n
        os.close(r); os.close(w)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
for close_fds in (True, False):
    print(subprocess.run(["echo", "child"], close_fds=close_fds, capture_output=True, text=True).stdout)
pid = os.fork()
if not pid:
    os.closerange(3, 1024); os._exit(7)
print(os.waitpid(pid, 0)[1])
"""
BASH = r"""
exec 9>&1; exec 8< <(seq 3); cat <&8 >&9; exec 9>&- 8<&-
for i in $(seq 30); do (exit $((i % 7))) || echo $?; done | sort | uniq -c
x=$(printf '%s\n' b a | sort); echo "$x" | tr a-z A-Z
ulimit -n 64; cat /etc/hostname | wc -l
"""
COMMANDS = [
    ["true"],
    ["false"],
    ["ls", "-l", "/usr"],  # not a folder that others write to: links and times would differ between two looks
    ["sh", "-c", "exit 42"],
    ["sh", "-c", "kill -TERM $$"],
    ["bash", "-c", BASH],
    ["python3", "-c", PYTHON],
    ["perl", "-e", "open(F, '<', '/etc/passwd'); print scalar(<F>); close F; system('true'); print $?"],
    ["find", "/etc", "-maxdepth", "1", "-name", "p*"],
    ["tar", "-cf", "/dev/null", "-C", "/etc", "passwd"],
    ["awk", "BEGIN { while ((\"echo one; echo two\" | getline x) > 0) print x }"],
    ["env", "-i", "/bin/true"],
]
OPTIONS = ["WARMVERBS_DISABLE", "WARMVERBS_TRACE", "WARMVERBS_LEASE", "WARMVERBS_NAME"]


def environment(library=None, **more):
    env = {name: value for name, value in os.environ.items()
           if name not in OPTIONS and name != "LD_PRELOAD"}
    if library:
        env["LD_PRELOAD"] = library
    return {**env, **more}


def outcome(command, env):
    done = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False)
    return done.returncode, done.stdout, done.stderr


def differences(library):
    for command in COMMANDS:
        if not shutil.which(command[0]):
            continue
        plain = outcome(command, environment())
        for more in ({}, {"WARMVERBS_DISABLE": "1"}, {"WARMVERBS_SOCKET": "/does/not/exist/socket"}):
            warm = outcome(command, environment(library, **more))
            if warm != plain:
                yield f"{command} with {more}: {plain} without the preload, {warm} with it"


def trace_when_off(library):
    """A preload that is off, or that sees no RDMA, leaves no trace file."""
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/trace"
        for more in ({}, {"WARMVERBS_DISABLE": "1"}):
            outcome(["ls", "/dev"], environment(library, WARMVERBS_TRACE=trace, **more))
            if os.path.exists(trace):
                yield f"a trace of a program without RDMA was made, with {more}"


def setuid(library):
    """The dynamic loader ignores the preload in programs that change their user."""
    if os.geteuid() or not shutil.which("setpriv"):
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = shutil.copy(shutil.which("cat"), f"{folder}/cat")
        os.chmod(program, 0o755 | stat.S_ISUID)
        command = ["setpriv", "--reuid=65534", "--clear-groups", program, "/proc/self/maps"]
        status, out, _ = outcome(command, environment(library))
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            return
        if status or os.path.basename(library).encode() in out:
            yield "a set-user-ID program is disturbed by the preload"


def main():
    library = sys.argv[1]
    wrong = [*differences(library), *trace_when_off(library), *setuid(library)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
