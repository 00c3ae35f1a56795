# SPDX-License-Identifier: BSD-2-Clause
"""Templates of Python programs: the interpreter is started, and modules are imported, once.

    python3 -m warmverbs_template --socket PATH --import numpy,pyverbs.device SCRIPT

keeps children ready in which SCRIPT only has to begin. `warmverbs-start --socket PATH python3 SCRIPT ARGUMENT...`
starts it, and so does a program that starts programs:

    with warmverbs_template.start(PATH, ["/usr/bin/python3", SCRIPT, ARGUMENT], fds=(0, 1, 2)) as started:
        status = started.wait()  # as os.waitpid() has it

A program may also call point() itself, wherever it is ready for its arguments.
"""

import argparse
import atexit
import builtins
import ctypes
import gc
import importlib.machinery
import io
import os
import select
import shutil
import signal
import site
import sys
import types

_LIBRARY = "libwarmverbs-template.so.0"
_LAUNCHER = "libwarmverbs-start.so.0"
_STOP = "WARMVERBS_TEMPLATE_PYTHON"  # what the supervised interpreter imports


# Read at the interpreter's start, before _spy(), by site.py.
_READ_BEFORE = ("HOME", "PYTHONUSERBASE", "PYTHONPLATLIBDIR")


class _Noted(dict):
    """The variables of os.environ; notes which the program reads before its stop point."""

    def __init__(self, data, note):
        super().__init__(data)
        self.note = note

    def __getitem__(self, key):
        self.note(key)
        return super().__getitem__(key)

    def __iter__(self):
        self.note(None)  # also those that are not there
        return super().__iter__()

    def __len__(self):
        self.note(None)
        return super().__len__()


def _load():
    library = ctypes.PyDLL(_LIBRARY)  # one that stays in Python's hands, as for os.fork()
    library.wv_template_point.argtypes = [ctypes.POINTER(ctypes.c_int),
                                          ctypes.POINTER(ctypes.POINTER(ctypes.c_char_p))]
    library.wv_template_note.argtypes = [ctypes.c_char_p]
    library.wv_template_depend.argtypes = [ctypes.c_char_p]
    library.wv_template_expect.argtypes = [ctypes.c_int, ctypes.c_char_p]
    return library


def _spy():
    """From here on it is known which variables the program reads in Python."""
    note = _load().wv_template_note
    for name in _READ_BEFORE:
        note(os.fsencode(name))
    os.environ._data = os.environb._data = _Noted(os.environ._data, note)


def _renew_environment():
    """os.environ is a copy of the environment."""
    here = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    data, i = {}, 0
    while here[i]:
        name, _, value = here[i].partition(b"=")
        data.setdefault(name, value)
        i += 1
    os.environ._data = os.environb._data = data


def _renew_stream(name, number):
    """As the interpreter opens it at its start (Python/pylifecycle.c, create_stdio()).

    The same object: modules may have kept it.
    """
    stream = getattr(sys, name)
    writes, unbuffered = name != "stdin", stream.write_through  # of which there is no flag in sys
    try:
        buffer = open(number, "wb" if writes else "rb", 0 if unbuffered and writes else -1, closefd=False)
    except OSError:
        setattr(sys, name, None)
        setattr(sys, f"__{name}__", None)
        return
    raw = getattr(buffer, "raw", buffer)
    raw.name = f"<{name}>"
    stream.__init__(buffer, stream.encoding, stream.errors, newline="\n",
                    line_buffering=not unbuffered and (name == "stderr" or raw.isatty()),
                    write_through=unbuffered)
    stream.mode = "w" if writes else "r"


def _renew_signals():
    """Those that the client ignores: the interpreter looks at its start."""
    with open("/proc/self/status", encoding="utf-8") as status:  # its codec is loaded already
        ignored = int(next(line.split()[1] for line in status if line.startswith("SigIgn:")), 16)
    for number in signal.valid_signals():
        if ignored >> number - 1 & 1 and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.SIG_IGN)


def _renew_random():
    """random does it by itself after a fork."""
    numpy = sys.modules.get("numpy")
    if numpy:
        numpy.random.seed()


def point():
    """The stop point of a template: from here on, each start goes on as a process of its own.

    Returns the arguments of the start, of which the first is the interpreter; None in a process that is no template.
    """
    argc, argv = ctypes.c_int(), ctypes.POINTER(ctypes.c_char_p)()
    ctypes.pythonapi.PyOS_BeforeFork()
    started = _load().wv_template_point(ctypes.byref(argc), ctypes.byref(argv))
    if not started:
        ctypes.pythonapi.PyOS_AfterFork_Parent()
        return None
    ctypes.pythonapi.PyOS_AfterFork_Child()
    _renew_environment()
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        _renew_stream(name, number)
    _renew_signals()
    _renew_random()
    arguments = [os.fsdecode(argv[i]) for i in range(argc.value)]
    sys.orig_argv = arguments
    sys.argv = arguments[1:]
    return arguments


# What a module may do to files while it is imported; of those that are opened for writing, Python's own caches.
_CHANGES = {"os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate", "os.chmod",
            "os.chown"}


class _Files:
    """What is done to files, until the stop point."""

    def __init__(self):
        self.read, self.changed, self.is_over = set(), None, False
        sys.addaudithook(self.see)

    def see(self, event, arguments):
        if self.is_over or (event != "open" and event not in _CHANGES):
            return
        path, _, flags = arguments if event == "open" else (arguments[0], None, os.O_WRONLY)
        if isinstance(path, int):
            return
        path = os.path.abspath(os.fsdecode(path))
        if not flags & (os.O_WRONLY | os.O_RDWR):
            self.read.add(path)
        elif os.sep + "__pycache__" + os.sep not in path:
            self.changed = path

    def end(self):
        """The files that were read, or would have been if they had been there."""
        self.is_over = True
        if self.changed:
            sys.exit(f"it has written, made or removed {self.changed}")
        return {path for path in self.read if not path.startswith(("/proc/", "/dev/", "/sys/"))}


def _watch(script, files):
    """Files that were read are not mapped; and where modules were searched for, others may appear."""
    depend = _load().wv_template_depend
    modules = list(sys.modules.values())
    folders = [folder for module in modules for folder in getattr(module, "__path__", ())]
    loaded = [getattr(module, "__file__", None) for module in modules]
    for path in filter(None, {*files, *loaded, *folders, *sys.path, *_site_folders(), script}):
        error = depend(os.fsencode(path))
        if error:
            sys.exit(f"{path}: {os.strerror(error)}")


def _site_folders():
    """Those that the interpreter looks for at its start, and adds if they are there."""
    return [site.getusersitepackages(), *site.getsitepackages()] if site.ENABLE_USER_SITE else site.getsitepackages()


def _end_of(error):
    """The script has ended with an exception: what the interpreter does then, without the frames of this module."""
    trace = error.__traceback__.tb_next
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    sys.excepthook(type(error), error.with_traceback(trace), trace)
    if isinstance(error, KeyboardInterrupt):
        atexit._run_exitfuncs()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.kill(os.getpid(), signal.SIGINT)
    sys.exit(1)


def _run(names, script):
    """In the interpreter that becomes the template."""
    if not all(path.startswith("/") for path in os.environ.get("PYTHONPATH", "/").split(":")):
        sys.exit("PYTHONPATH has a relative folder")
    _spy()
    files = _Files()
    script = os.path.abspath(script)
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    with io.open_code(script) as file:
        code = compile(file.read(), script, "exec", dont_inherit=True)
    for name in filter(None, names.split(",")):
        __import__(name)
    error = _load().wv_template_expect(1, os.fsencode(script))
    if error:
        sys.exit(f"{script}: {os.strerror(error)}")
    _watch(script, files.end())
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=script, __builtins__=builtins, __cached__=None)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", script)
    main.__annotations__ = {}
    sys.modules.setdefault("warmverbs_template", sys.modules["__main__"])  # which would be emptied without a reference
    sys.modules["__main__"] = main
    gc.collect()
    gc.freeze()  # the children need not write to what a collection would touch
    point()
    try:
        exec(code, main.__dict__)  # pylint: disable=exec-used
    except SystemExit:
        raise
    except BaseException as end:  # pylint: disable=broad-exception-caught
        _end_of(end)


class _Request(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("argv", ctypes.POINTER(ctypes.c_char_p)),
                ("envp", ctypes.POINTER(ctypes.c_char_p)), ("fds", ctypes.POINTER(ctypes.c_int)),
                ("n_fds", ctypes.c_uint), ("timeout_ms", ctypes.c_uint), ("mask", ctypes.c_void_p)]


class _Start(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_int), ("pidfd", ctypes.c_int), ("connection", ctypes.c_int),
                ("why", ctypes.c_char * 120)]


class NotStarted(OSError):
    """There is no start, and nothing has happened: execute the program."""


class Start:
    """A program that was started from its template. It is killed if this object is closed before it has ended."""

    def __init__(self, library, started):
        self._library, self._started, self._status = library, started, None
        self.pid, self.pidfd = started.pid, started.pidfd

    def fileno(self):
        """Readable once the program has ended."""
        return self._started.connection

    def wait(self):
        """Its status, as os.waitpid() has it."""
        if self._status is None:
            select.select([self], [], [])  # which handlers of signals can interrupt
            status = ctypes.c_int()
            error = self._library.wv_template_wait(ctypes.byref(self._started), ctypes.byref(status))
            if error:
                raise OSError(error, os.strerror(error))
            self._status = status.value
        return self._status

    def close(self):
        self._library.wv_template_close(ctypes.byref(self._started))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _strings(words):
    return (ctypes.c_char_p * (len(words) + 1))(*map(os.fsencode, words), None)


def start(socket, argv, env=None, fds=None, timeout=1.0):
    """Starts argv[0], a path, from the template at a socket.

    env: its environment (default: this one). fds: fds[i] becomes its descriptor i (default: those that exec leaves
    open). timeout: in seconds, for the template's answer. Raises NotStarted.
    """
    env = os.environ if env is None else env
    library = ctypes.CDLL(_LAUNCHER)
    started = _Start()
    request = _Request(os.fsencode(argv[0]), _strings(argv), _strings([f"{k}={v}" for k, v in env.items()]),
                       None if fds is None else (ctypes.c_int * len(fds))(*fds), len(fds or ()), int(timeout * 1000))
    error = library.wv_template_start(os.fsencode(socket), ctypes.byref(request), ctypes.byref(started))
    if error:
        raise NotStarted(error, os.fsdecode(started.why) or os.strerror(error))
    return Start(library, started)


def main():
    parser = argparse.ArgumentParser(prog="python3 -m warmverbs_template", description="Keep SCRIPT ready to start.")
    parser.add_argument("--socket", required=True, help="where clients connect")
    parser.add_argument("--import", dest="names", default="", metavar="NAMES", help="modules, separated by commas")
    parser.add_argument("--idle", metavar="SECONDS", help="end after so long without a start (default: 300)")
    parser.add_argument("--ready", metavar="N", help="at most N children wait (default: 64)")
    parser.add_argument("--memory", metavar="MB",
                        help="children that wait have at most so much memory for themselves, but one waits in any case "
                             "(default: 256)")
    parser.add_argument("script")
    arguments = parser.parse_args()
    options = [word for name in ("socket", "idle", "ready", "memory") if getattr(arguments, name) is not None
               for word in (f"--{name}", getattr(arguments, name))]
    supervisor = shutil.which("warmverbs-template")
    if not supervisor:
        sys.exit("warmverbs_template: there is no warmverbs-template in PATH: install warmverbs-templates")
    os.environ[_STOP] = arguments.names
    os.execv(supervisor, [supervisor, *options, "--at", "point", "--", sys.executable, "-m", "warmverbs_template",
                          arguments.script])


if __name__ == "__main__":
    asked = os.environ.pop(_STOP, None)
    if asked is None:
        main()
    else:
        _run(asked, sys.argv[1])
