"""A kernel for a stranger's notebook, in a box: bubblewrap around it and limits on what it takes.

Inside there is no network, the system and the virtual environment can be read but not written, and
of the teacher's files there is nothing: no gradebook, no sources, no other submission, no home
folder. The kernel works in a small file system in memory, and talks to the grader through sockets
in a folder that the two share. Nothing of the assignment lies in that folder: cells are sent one at
a time, so a hidden test is in the box only from the moment it runs.

Code and hidden tests still share a process there, and the box is no defence against a fault of the
operating system's kernel. See bwrap(1) and setrlimit(2).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import psutil
from jupyter_client.connect import write_connection_file
from notebooks import ROOT

HOME = "/student"  # where code in the box works
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/localtime")
WATCH = 0.25  # seconds between two looks at what a box takes
SHARED = 1_000_000  # bytes that the folder of the sockets may hold; sockets hold none

NOT_ISOLATED = """\
Without a sandbox, code of students runs with your rights: it can read the gradebook, the solutions,
the other submissions and your files, change or delete them, and use the network. Memory, file size
and time stay limited. Grade so only what you would run yourself: UNSAFE=1 says that you know."""

_LIMITED = """\
import os, resource, sys
for name, value in {limits!r}.items():
    kind = getattr(resource, name, None)
    if kind is not None:
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
os.execv(sys.argv[1], sys.argv[1:])
"""

# What is printed goes to the grader in pieces: it can stop a flood long before memory is full.
_KERNEL = """\
from ipykernel import iostream, kernelapp

PIECE = 500_000
write, room = iostream.OutStream.write, PIECE

def in_pieces(stream, text):
    global room
    for start in range(0, max(len(text), 1), PIECE):
        piece = text[start : start + PIECE]
        write(stream, piece)
        room -= len(piece)
        if room < 0:
            room = PIECE
            stream.flush()
    return len(text)

iostream.OutStream.write = in_pieces
kernelapp.launch_new_instance()
"""


@dataclass(frozen=True)
class Limits:
    """What one submission may take; bytes and seconds."""

    memory: int = 4 * 1024**3  # of all its processes together
    file: int = 256 * 1024**2  # the largest file
    disk: int = 512 * 1024**2  # all files, which are in memory
    processes: int = 256  # threads included
    cell: float = 30.0  # one cell
    submission: float = 600.0  # all its cells, and starting kernels anew
    printed: int = 10_000_000  # by one cell, before it is stopped
    restarts: int = 20  # of a kernel that died

    def of_process(self, alone):
        """The limits of setrlimit(2); ``alone`` if no other process of the user counts.

        Memory is RLIMIT_DATA, not RLIMIT_AS: the CUDA build of PyTorch maps more of its own files
        than a student's code ever allocates.
        """
        limits = {"RLIMIT_DATA": self.memory, "RLIMIT_FSIZE": self.file, "RLIMIT_CORE": 0}
        return limits | ({"RLIMIT_NPROC": self.processes} if alone else {})


def trouble():
    """Why kernels cannot be boxed here, or an empty text."""
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (Debian, Ubuntu: apt-get install bubblewrap)"
    with tempfile.TemporaryDirectory() as folder:
        command = [*_walls(Path(folder), Limits()), "--", "/bin/sh", "-c", "exit 0"]
        tried = subprocess.run(command, capture_output=True, text=True)
    if tried.returncode == 0:
        return ""
    return f"bubblewrap does not work here: {tried.stderr.strip() or tried.returncode}"


def _walls(shared, limits):
    """The command line of bubblewrap, up to the program it runs."""
    package = Path(find_spec("minitransformer").origin).parent
    inside = [sys.base_prefix, sys.prefix, package]
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    for path in SYSTEM:
        words += ["--ro-bind-try", path, path]
    # Hide what a bound folder might hold of the teacher's, then show what is needed of it.
    words += ["--proc", "/proc", "--dev", "/dev", *_memory("/dev/shm", limits.disk // 8)]
    words += [*_memory("/tmp", limits.disk // 8), *_memory(HOME, limits.disk)]
    words += ["--tmpfs", str(ROOT)]
    for path in inside:
        words += ["--ro-bind", str(path), str(path)]
    words += ["--remount-ro", str(ROOT), "--bind", str(shared), str(shared)]
    words += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", HOME]
    return words


def _memory(path, size):
    return ["--size", str(size), "--tmpfs", path]


def _environment(home):
    """The variables of the box: none of the teacher's, and what makes runs repeat."""
    path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"))
    return {
        "PATH": path,
        "HOME": str(home),
        "USER": "student",
        "LANG": "C.UTF-8",
        "MPLCONFIGDIR": str(home),
        "OMP_NUM_THREADS": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


class Box:
    """One running kernel and the walls around it; ``close`` it, or use it in a ``with``.

    Attributes
    ----------
    connection : Path
        The kernel's connection file.
    stopped : str
        Why the box was stopped from outside; empty as long as it was not.
    """

    def __init__(self, limits, unsafe=False):
        self.limits, self.unsafe, self.stopped = limits, unsafe, ""
        # The path of a socket has at most 107 characters, so the folder cannot lie anywhere.
        self._shared = Path(tempfile.mkdtemp(prefix="box-", dir="/tmp"))
        self._home = Path(tempfile.mkdtemp(prefix="home-", dir="/tmp")) if unsafe else Path(HOME)
        self.connection = self._shared / "kernel.json"
        key = os.urandom(16).hex().encode()
        address = str(self._shared / "k")
        write_connection_file(str(self.connection), ip=address, transport="ipc", key=key)
        self._gone = threading.Event()
        self._process = self._start()
        threading.Thread(target=self._watch, daemon=True).start()

    def _start(self):
        python = sys.executable
        limited = _LIMITED.format(limits=self.limits.of_process(alone=not self.unsafe))
        kernel = [python, "-c", _KERNEL, "-f", str(self.connection)]
        command = [python, "-I", "-S", "-c", limited, *kernel, "--HistoryManager.enabled=False"]
        if not self.unsafe:
            command = [*_walls(self._shared, self.limits), "--", *command]
        return subprocess.Popen(
            command,
            env=_environment(self._home),
            cwd=self._home if self.unsafe else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ended(self):
        """Whether the kernel is gone."""
        return self._process.poll() is not None

    def stop(self, reason):
        """Kill whatever runs in the box, for a reason to be told."""
        self.stopped = self.stopped or reason
        self._kill()

    def close(self):
        """End the box and remove its folders."""
        self._gone.set()
        self._kill()
        shutil.rmtree(self._shared, ignore_errors=True)
        if self.unsafe:
            shutil.rmtree(self._home, ignore_errors=True)

    def _kill(self):
        # In the box all processes end with bubblewrap's own; without it, with their group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _watch(self):
        while not self.ended() and not self._gone.wait(WATCH):
            reason = self._excess()
            if reason:
                self.stop(reason)

    def _excess(self):
        """What the box takes too much of, in words; the limits of single processes leave it."""
        try:
            root = psutil.Process(self._process.pid)
            family = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return ""
        memory = 0
        for process in family:
            with contextlib.suppress(psutil.Error):
                memory += process.memory_info().rss
        if memory > self.limits.memory:
            return f"took more than {self.limits.memory / 1024**3:g} GB of memory"
        if len(family) > self.limits.processes:
            return f"started more than {self.limits.processes} processes"
        if _size(self._shared) > SHARED:
            return "wrote into the folder of the kernel's sockets"
        return ""


def _size(folder):
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total
