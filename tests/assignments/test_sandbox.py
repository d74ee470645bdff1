"""What code in the box can reach and take, and how its cells end."""

import os
import shutil
import socket
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from course import normalise, sandbox
from course.execute import Session
from course.grade import Settings, grade
from course.sources import CourseError
from notebooks import ROOT

pytestmark = [pytest.mark.course, pytest.mark.sandbox]

LIMITS = sandbox.Limits(cell=20)


def run(session, code, again=False):
    """Run a cell: (how it ended, what it printed and raised)."""
    result = session.run(code, again)
    texts = [out.get("text") or f"{out.get('ename')}" for out in result.outputs]
    return result.status, "".join(texts).strip()


@pytest.fixture(scope="module")
def session():
    """One box for all tests that do not break it."""
    with Session(LIMITS) as opened:
        assert opened.run("import os, numpy").status == "ok"
        yield opened


def test_a_cell_runs_with_what_students_need(session):
    code = (
        "import numpy, minitransformer, sys\nprint(numpy.arange(3).sum(), minitransformer.__name__)"
    )
    assert run(session, code) == ("ok", "3 minitransformer")


def test_cells_share_their_names(session):
    assert run(session, "shared = 41") == ("ok", "")
    assert run(session, "print(shared + 1)") == ("ok", "42")


def test_nothing_of_the_teacher_is_there(session):
    told = run(session, f"print(sorted(os.listdir({str(ROOT)!r})))")
    assert told in (("ok", "['.venv', 'src']"), ("ok", "['src']"))
    secret = Path.home() / ".a-secret-of-the-teacher"
    for place in (secret, Path("/tmp") / secret.name, ROOT / "tests"):
        assert run(session, f"print(os.path.exists({str(place)!r}))") == ("ok", "False")
    assert run(session, "print(sorted(k for k in os.environ if 'PYTEST' in k))") == ("ok", "[]")


@pytest.mark.parametrize("place", ["/x", "/usr/x", "/etc/x", "/dev/x", "{root}/x", "{venv}/x"])
def test_nothing_but_its_own_folder_can_be_written(session, place):
    path = place.format(root=ROOT, venv=Path(os.__file__).parent)
    status, told = run(session, f"open({path!r}, 'w')")
    assert (status, told) in (("error", "OSError"), ("error", "PermissionError"))
    assert not Path(path).exists()


def test_its_own_folder_is_empty_and_in_memory(session):
    assert run(session, "print([n for n in os.listdir() if n[0] != '.'])") == ("ok", "[]")
    assert run(session, "open('mine.txt', 'w').write('kept'); print(os.getcwd())") == (
        "ok",
        "/student",
    )
    assert not Path("/student").exists()


def test_there_is_no_network(session):
    connect = "import socket\nsocket.create_connection(('{}', {}), timeout=3)"
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()
        socket.create_connection(address, timeout=3).close()  # from here it can be reached
        for host, port in (address, ("192.0.2.1", 80)):
            assert run(session, connect.format(host, port))[0] == "error"
    assert run(session, "print([name for _, name in socket.if_nameindex()])") == ("ok", "['lo']")


def test_no_other_process_is_seen(session):
    code = "print(len([n for n in os.listdir('/proc') if n.isdecimal()]))"
    status, count = run(session, code)
    assert (status, int(count) <= 3) == ("ok", True)


def test_memory_has_an_end(session):
    assert run(session, "numpy.ones(100_000_000_000 // 8)") == ("error", "MemoryError")
    assert run(session, "print(shared)") == ("ok", "41")


def test_a_file_has_an_end(session):
    code = f"with open('large', 'wb') as f:\n    f.truncate({LIMITS.file} + 1)"
    assert run(session, code) == ("error", "OSError")


def test_endless_code_is_interrupted():
    with Session(replace(LIMITS, cell=3.0)) as session:
        assert run(session, "shared = 41") == ("ok", "")
        result = session.run("while True:\n    pass")
        assert (result.status, result.reason) == ("timeout", "took longer than 3 s")
        assert run(session, "print(shared)") == ("ok", "41")


def test_of_a_flood_only_the_beginning_is_kept(session):
    result = session.run("while True:\n    print('y' * 10000)")
    assert (result.status, result.reason) == ("flood", "printed more than 10 MB")
    assert sum(len(output.get("text", "")) for output in result.outputs) < 200_000


def test_code_that_asks_for_input_gets_none(session):
    assert run(session, "input('points? ')") == ("error", "StdinNotImplementedError")


def test_forged_messages_are_left_out(session):
    code = """
import zmq
kernel = get_ipython().kernel
kernel.iopub_socket.send_multipart([b"", b"no message", b"{}"])
print("still here")
"""
    assert run(session, code)[0] in ("ok", "error")
    assert run(session, "print(shared)") == ("ok", "41")


def test_pictures_and_texts_are_kept_and_pages_are_not(session):
    code = "from IPython.display import HTML\nHTML('<script>alert(1)</script>')"
    [output] = session.run(code).outputs
    assert list(output.data) == ["text/plain"]


def test_after_a_death_the_cells_before_it_run_again():
    with Session(LIMITS) as session:
        run(session, "import os\nshared = [1]", again=True)
        run(session, "shared.append(2)\nraise ValueError", again=True)
        assert session.run("shared.append(3)\nos._exit(0)", again=True).reason == (
            "the code ended Python"
        )
        assert run(session, "print(shared)") == ("ok", "[1, 2]")
        assert session.run("exit()").status == "died"
        assert run(session, "print(shared)") == ("ok", "[1, 2]")


def test_a_kernel_that_dies_too_often_stays_dead():
    with Session(replace(LIMITS, restarts=1)) as session:
        for status in ("died", "died", "not run", "not run"):
            assert session.run("import os; os._exit(1)").status == status


def test_a_submission_has_an_end():
    with Session(replace(LIMITS, submission=4.0, cell=60.0)) as session:
        result = session.run("while True:\n    pass")
        assert (result.status, result.reason) == ("timeout", "the 4 s of a submission were over")
        assert session.run("1").status == "not run"


SHARED = """
import mmap
shared = mmap.mmap(-1, 2**29)
for _ in range(2**9):
    shared.write(b"1" * 2**20)
"""
SOCKETS = """
import glob, time
for n in range(5):
    open(f"{glob.glob('/tmp/box-*')[0]}/{n}", "wb").write(b"1" * 10**6)
time.sleep(30)
"""
FORKS = """
import os, time
for _ in range(60):
    os.fork() or time.sleep(30)
time.sleep(30)
"""


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (SHARED, "took more than 0.25 GB of memory"),
        (SOCKETS, "wrote into the folder of the kernel's sockets"),
    ],
)
def test_what_no_limit_of_a_process_stops_is_watched(code, reason):
    with Session(replace(LIMITS, memory=2**28)) as session:
        result = session.run(code)
    assert (result.status, result.reason) == ("died", reason)


def test_processes_have_an_end():
    with Session(replace(LIMITS, processes=40)) as session:
        result = session.run(FORKS)
    # The limit of the processes stops all users but root, of whom only the watch is heard.
    assert result.reason.startswith(("BlockingIOError", "started more than 40 processes"))


def test_messages_that_are_too_large_are_a_flood():
    with Session(LIMITS) as session:
        run(session, "shared = 41", again=True)
        result = session.run("'y' * 50_000_000", again=True)
        assert (result.status, result.reason) == ("flood", "printed more than 10 MB")
        assert run(session, "print(shared)") == ("ok", "41")


def test_nothing_is_left_of_a_box():
    with Session(LIMITS) as session:
        session.run("import subprocess; subprocess.Popen(['sleep', '4242'])")
        # Only from inside is it known which box is this one: others are open beside it.
        _, name = run(session, "import glob; print(*glob.glob('/tmp/box-*'))")
        assert _sleepers()
        assert Path(name).is_dir()
    end = time.monotonic() + 10
    while _sleepers() and time.monotonic() < end:
        time.sleep(0.1)
    assert not _sleepers()
    assert not Path(name).exists()


def _sleepers():
    return [p for p in psutil.process_iter(["cmdline"]) if p.info["cmdline"] == ["sleep", "4242"]]


def test_without_a_sandbox_the_limits_hold():
    with Session(replace(LIMITS, cell=2.0), unsafe=True) as session:
        assert session.run("while True:\n    pass").status == "timeout"
        assert run(session, "import numpy\nnumpy.ones(10**11)") == ("error", "MemoryError")
        status, home = run(session, "import os; print(os.getcwd())")
        assert (status, Path(home).exists()) == ("ok", True)
    assert not Path(home).exists()


def test_without_bubblewrap_nothing_is_graded_until_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(CourseError) as told:
        grade("a1", tmp_path, tmp_path / "out", Settings(tmp_path / "course"))
    for words in ("bubblewrap is not installed", "can read the gradebook", "network", "UNSAFE=1"):
        assert words in str(told.value)
    assert not (tmp_path / "out").exists()


def test_where_bubblewrap_does_not_work_it_says_why(monkeypatch, tmp_path):
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert sandbox.trouble() == (
        "bubblewrap does not work here: No permissions to create new namespace"
    )


def test_teachers_read_the_limits_that_hold():
    limits = sandbox.Limits()
    told = " ".join((ROOT / "book" / "teaching_course.md").read_text(encoding="utf-8").split())
    assert f"memory ({limits.memory / 1024**3:g} GB), processes ({limits.processes})" in told
    assert f"files ({limits.file / 1024**2:g} MB each)" in told
    assert f"prints ({limits.printed / 1e6:g} MB)" in told
    assert f"({limits.submission:g} s, and {limits.cell:g} s for a cell" in told
    assert f"file of more than {normalise.LARGEST / 1e6:g} MB" in told
