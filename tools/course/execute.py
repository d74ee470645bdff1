"""Run a notebook's cells in a boxed kernel, one at a time, whatever they do.

A cell ends in one of these ways: it ran (``ok``), it raised (``error``), its time was up
(``timeout``), it printed too much (``flood``), or the kernel was gone (``died``). After the first
four the next cell meets the same kernel. After a death a new kernel is started and the student's
cells before that one are run again, without those that did not come back, so that it costs only the
question in which it happened.
"""

import contextlib
import re
import time
from dataclasses import dataclass, field
from queue import Empty

import nbformat.v4 as v4
import zmq
from jupyter_client import BlockingKernelClient

from .sandbox import Box

START = 60.0  # seconds for a kernel to start, on a busy machine
GRACE = 5.0  # seconds for an interrupted cell to end
KEPT = 100_000  # characters of a cell's output that are kept
STREAMS = 1000  # pieces of a cell's output, standard output and error in turn
MESSAGE = 20_000_000  # bytes of the largest message that is read from a kernel
KINDS = ("text/plain", "image/png")  # of an output; what could run in a teacher's browser is left

_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


class NoKernel(RuntimeError):
    """No kernel would start, or it could not run what was given: nothing that a student did."""


@dataclass
class Result:
    """How a cell ended, with its outputs (of nbformat) and, unless it is ok, the reason."""

    status: str = "ok"
    outputs: list = field(default_factory=list)
    reason: str = ""


class Outputs:
    """Collects a cell's outputs, and keeps of a flood only the beginning."""

    def __init__(self):
        self.cells, self.size, self._room = [], 0, KEPT

    def add(self, message):
        """Take in a message of the kernel's."""
        content, kind = message["content"], message["msg_type"]
        self.size += 100  # endless empty messages are a flood as well
        if kind == "stream":
            text = str(content.get("text", ""))
            self.size += len(text)
            self._stream(content.get("name"), _COLOUR.sub("", text[: self._room]))
        elif kind == "error":
            lines = [_COLOUR.sub("", str(line)) for line in content.get("traceback", [])]
            self._append("error", ename=_short(content, "ename"), evalue=_short(content, "evalue"))
            self.cells[-1].traceback = "\n".join(lines)[:KEPT].split("\n")
        elif kind in ("display_data", "execute_result", "update_display_data"):
            data = {k: str(v) for k, v in content.get("data", {}).items() if k in KINDS}
            size = sum(map(len, data.values()))
            self.size += size
            self._room -= size
            if self._room > 0 or size < 1000:
                metadata = {k: v for k, v in content.get("metadata", {}).items() if type(v) is str}
                self._append("display_data", data=data, metadata=metadata)

    def _stream(self, name, text):
        if name not in ("stdout", "stderr") or not text or len(self.cells) >= STREAMS:
            return
        self._room -= len(text)
        if self._room <= 0:
            text += "\n... (cut off here)\n"
        last = self.cells[-1] if self.cells else None
        if last is not None and last.get("name") == name:
            last.text += text
        else:
            self._append("stream", name=name, text=text)

    def _append(self, kind, **content):
        self.cells.append(v4.new_output(kind, **content))


class Session:
    """A kernel in a box, and what is needed to bring a new one to the same point."""

    def __init__(self, limits, unsafe=False):
        self._limits, self._unsafe = limits, unsafe
        self._end = time.monotonic() + limits.submission
        self._past, self._restarts = [], 0
        self._kernel = None

    def __enter__(self):
        self._kernel = Kernel(self._limits, self._unsafe)
        return self

    def __exit__(self, *_):
        self._kernel.close()

    def run(self, code, again=False):
        """Run one cell; ``again`` if a new kernel, should one be needed, has to run it as well."""
        if time.monotonic() >= self._end:
            limit = self._limits.submission
            return Result("not run", reason=f"the {limit:g} s of a submission were over")
        if self._kernel.gone() and not self._restarted():
            return Result("not run", reason="its kernel had died too often")
        result = self._kernel.run(code, min(self._limits.cell, self._end - time.monotonic()))
        if again and result.status in ("ok", "error"):
            self._past.append(code)
        return result

    def _restarted(self):
        """Whether there is a kernel again that has run the cells so far."""
        while self._restarts < self._limits.restarts and time.monotonic() < self._end:
            self._restarts += 1
            self._kernel.close()
            self._kernel = Kernel(self._limits, self._unsafe)
            for code in list(self._past):
                self._kernel.run(code, min(self._limits.cell, self._end - time.monotonic()))
                if self._kernel.gone():
                    self._past.remove(code)
                    break
            else:
                return True
        return False


class Kernel:
    """A kernel in a box, and its client."""

    def __init__(self, limits, unsafe=False):
        self._limits, self._exited = limits, False
        self._box = Box(limits, unsafe)
        self._context = zmq.Context()
        self._context.setsockopt(zmq.MAXMSGSIZE, MESSAGE)
        self._client = BlockingKernelClient(context=self._context)
        self._client.load_connection_file(str(self._box.connection))
        self._client.start_channels(stdin=False, hb=False)
        try:
            self._wait_for_start()
        except BaseException:
            self.close()
            raise

    def _wait_for_start(self):
        """Wait for the first answers: on the shell channel, and on that of the outputs."""
        end = time.monotonic() + START
        heard = set()
        while len(heard) < 2:
            if self._box.ended() or time.monotonic() > end:
                raise NoKernel(f"no kernel started {self._box.stopped}".rstrip())
            self._client.kernel_info()
            asked_again = time.monotonic() + 1
            while time.monotonic() < asked_again and len(heard) < 2:
                heard.update(name for name, _ in self._messages(0.1))

    def gone(self):
        """Whether no cell can run here any more."""
        return self._exited or self._box.ended()

    def close(self):
        """End the kernel."""
        self._client.stop_channels()
        self._context.destroy(linger=0)
        self._box.close()

    def run(self, code, seconds):
        """Run one cell for at most so many seconds."""
        asked = self._client.execute(code, store_history=False, allow_stdin=False)
        outputs, told = Outputs(), ""
        end = time.monotonic() + seconds
        reply, idle, idle_by = None, False, end
        while reply is None or not idle:
            now = time.monotonic()
            if self._box.ended() and reply is None:
                return Result("died", outputs.cells, self._box.stopped or "the code ended Python")
            if reply is not None and now > idle_by:  # a message was too large: none comes any more
                told = told or "flood"
                self._box.stop("its messages were lost")
                break
            if told and reply is None and now > end:
                self._box.stop("it went on after an interrupt")
                break
            if not told and (now > end or outputs.size > self._limits.printed):
                told = "timeout" if now > end else "flood"
                self._interrupt()
                end = now + GRACE
            for name, message in self._messages(0.1):
                if message["parent_header"].get("msg_id") != asked:
                    continue
                if name == "shell" and message["msg_type"] == "execute_reply":
                    reply, idle_by = message["content"], time.monotonic() + GRACE
                elif name == "iopub" and message["msg_type"] == "status":
                    idle = idle or message["content"].get("execution_state") == "idle"
                elif name == "iopub":
                    outputs.add(message)
        return self._result(reply, outputs, told, seconds)

    def _result(self, reply, outputs, told, seconds):
        if told:
            return Result(told, outputs.cells, self._words(told, seconds))
        if any(part.get("source") == "ask_exit" for part in reply.get("payload", [])):
            self._exited = True
            return Result("died", outputs.cells, "the code ended Python")
        if reply.get("status") == "ok":
            return Result("ok", outputs.cells)
        if not any(output.output_type == "error" for output in outputs.cells):
            outputs.add({"msg_type": "error", "content": reply})
        reason = f"{_short(reply, 'ename')}: {_short(reply, 'evalue')}".strip(": ")
        return Result("error", outputs.cells, reason)

    def _words(self, told, seconds):
        if told == "timeout" and seconds < self._limits.cell:
            return f"the {self._limits.submission:g} s of a submission were over"
        if told == "timeout":
            return f"took longer than {seconds:g} s"
        return f"printed more than {self._limits.printed / 1e6:g} MB"

    def _interrupt(self):
        message = self._client.session.msg("interrupt_request", {})
        self._client.control_channel.send(message)

    def _messages(self, seconds):
        """What has come on the two channels, after waiting so long for the first."""
        channels = {"iopub": self._client.iopub_channel, "shell": self._client.shell_channel}
        poller = zmq.Poller()
        for channel in channels.values():
            poller.register(channel.socket, zmq.POLLIN)
        ready, found = dict(poller.poll(seconds * 1000)), []
        for name, channel in channels.items():
            if channel.socket in ready:
                # A student's code can send anything here: what is no message is left out.
                with contextlib.suppress(Empty, ValueError, KeyError, TypeError, AttributeError):
                    message = channel.get_msg(timeout=0)
                    if message["parent_header"].get("msg_id"):
                        found.append((name, message))
        return found


def _short(content, key):
    return _COLOUR.sub("", str(content.get(key, "")))[:2000]
