"""A kernel that is forked from a process which has imported the library, instead of started anew.

Starting a kernel and importing the library takes most of a notebook's time. Here a child is forked *before*
papermill begins, while nothing runs yet but the main thread; it waits on a pipe, and when Jupyter wants a
kernel it becomes one. To papermill and nbclient it is an ordinary kernel with a process of its own.

Conventions
-----------
- One fork, one kernel, one notebook: nothing of a notebook reaches the next one.
- Jupyter gets it through its kernel provisioner interface, under :data:`PROVISIONER`.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import os
import signal
import socket
import sys
import time
import traceback
from queue import Empty
from typing import IO, Any, NoReturn

from jupyter_client import AsyncKernelClient, AsyncKernelManager
from jupyter_client.connect import KernelConnectionInfo
from jupyter_client.provisioning import KernelProvisionerFactory, LocalProvisioner
from traitlets import Type

PROVISIONER = "soundcheck-forked"

_offered: ForkedKernel | None = None


class ForkedKernel:
    """A forked process that becomes a kernel when it is told to; has the methods of ``subprocess.Popen``.

    Attributes
    ----------
    pid
        Of the process, which leads a session of its own.
    returncode
        How it ended; ``None`` if it still runs or nobody has looked.
    """

    stdin: IO | None = None
    stdout: IO | None = None
    stderr: IO | None = None

    def __init__(self) -> None:
        reader, self._writer = os.pipe()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._writer)
            _become_kernel(reader)
        os.close(reader)

    def start(self, arguments: list[str], environment: dict[str, str], folder: str) -> None:
        """Tell the process to become a kernel."""
        told = {"arguments": arguments, "environment": environment, "folder": folder}
        with os.fdopen(self._writer, "w") as writer:
            json.dump(told, writer)

    def poll(self) -> int | None:
        """Say how the process ended, ``None`` if it runs."""
        if self.returncode is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, os.WNOHANG)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait until the process has ended, at most so many seconds."""
        end = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None and (end is None or time.monotonic() < end):
            time.sleep(0.01)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask the process to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End the process."""
        self.send_signal(signal.SIGKILL)


def _become_kernel(reader: int) -> NoReturn:
    """Wait until somebody wants a kernel, and be one; never returns."""
    status = 1
    try:
        os.setsid()
        with os.fdopen(reader) as pipe:
            told = pipe.read()
        if told:  # else the parent ended
            wanted = json.loads(told)
            os.environ.clear()
            os.environ.update(wanted["environment"])
            os.chdir(wanted["folder"])
            sys.argv = ["ipykernel_launcher", *wanted["arguments"]]
            from ipykernel.kernelapp import IPKernelApp

            # ipykernel looks for its parent when it is imported, and ends with it.
            parent = f"--IPKernelApp.parent_handle={os.getppid()}"
            IPKernelApp.launch_instance(argv=[*wanted["arguments"], parent])
            status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # leave without what the parent would do at its end


class ForkedProvisioner(LocalProvisioner):
    """Gives Jupyter the process that :func:`offer` has made; once, as a kernel never starts twice here."""

    async def launch_kernel(self, cmd: list[str], **kwargs: Any) -> KernelConnectionInfo:
        """Turn the offered process into the kernel; without one start it the ordinary way."""
        global _offered
        kernel, _offered = _offered, None
        if kernel is None or kernel.poll() is not None:
            return await super().launch_kernel(cmd, **kwargs)
        arguments = cmd[cmd.index("-f") :]
        kernel.start(arguments, dict(kwargs["env"]), str(kwargs.get("cwd") or os.getcwd()))
        self.process = kernel
        self.pid = self.pgid = kernel.pid
        self.cwd = kwargs.get("cwd")
        await self._wait_until_it_listens()
        return self.connection_info

    async def _wait_until_it_listens(self) -> None:
        """Let nobody connect too early: who is refused tries again only after a tenth of a second."""
        place = self.connection_info["ip"], self.connection_info["control_port"]  # the last to be bound
        for _ in range(1000):
            with contextlib.suppress(OSError), socket.create_connection(place, timeout=1):
                return
            if await self.poll() is not None:
                return
            await asyncio.sleep(0.002)

    async def shutdown_requested(self, restart: bool = False) -> None:
        """Look often whether the kernel has ended: it needs milliseconds, Jupyter looks every 100 of them."""
        for _ in range(100):
            if await self.poll() is not None:
                break
            await asyncio.sleep(0.005)


class PromptClient(AsyncKernelClient):
    """Talks to a kernel that is ready within milliseconds, and does not wait as if it were not."""

    async def wait_for_ready(self, timeout: float | None = None) -> None:
        """Wait until the kernel answers and its outputs arrive; see :class:`KernelClient`.

        Raises
        ------
        RuntimeError
            If it dies or does not answer in time.
        """
        end = time.monotonic() + (float("inf") if timeout is None else timeout)
        while True:
            self.kernel_info()
            with contextlib.suppress(Empty):
                answer = await self.shell_channel.get_msg(timeout=1)
                if answer["msg_type"] == "kernel_info_reply":
                    await self.iopub_channel.get_msg(timeout=0.2)
                    self._handle_kernel_info_reply(answer)
                    break
            if not await self.is_alive():
                raise RuntimeError("Kernel died before replying to kernel_info")
            if time.monotonic() > end:
                raise RuntimeError(f"Kernel didn't respond in {timeout:.0f} seconds")
        with contextlib.suppress(Empty):
            while True:  # what belongs to the answer, and to no cell
                await self.iopub_channel.get_msg(timeout=0.01)


class PromptManager(AsyncKernelManager):
    """Gives nbclient a :class:`PromptClient`."""

    client_factory = Type(PromptClient, klass=AsyncKernelClient)


def offer() -> None:
    """Fork the process that the next kernel will be; call it before any thread is started."""
    global _offered
    known = KernelProvisionerFactory.instance().provisioners
    place = f"{__name__}:{ForkedProvisioner.__name__}"
    known[PROVISIONER] = importlib.metadata.EntryPoint(
        PROVISIONER, place, KernelProvisionerFactory.GROUP_NAME
    )
    _offered = ForkedKernel()
