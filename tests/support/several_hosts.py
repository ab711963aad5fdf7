"""Several hosts on this machine: network namespaces with names and addresses of their own, joined
by a bridge, and nothing shared but files.

Each host has its own memory for messages (IPC namespace and /dev/shm) too; else MPI would go that
way and the network would see nothing. In place of ssh stands a script that enters a host.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAMES = ("groute-h0", "groute-h1")
SWITCH = "groute-sw"
ADDRESS = "10.213.77.{}"

ENTER = """\
#!/bin/sh
# As `ssh -x HOST COMMAND...`
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1
shift
exec nsenter -t "$(cat {folder}/$host.pid)" -n -u -m -i sh -c "$*"
"""


def why_not() -> str | None:
    """Why no hosts can be made here, or None."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    missing = [name for name in ("ip", "nsenter", "unshare") if shutil.which(name) is None]
    if missing:
        return f"no {', '.join(missing)}; on Debian: apt-get install iproute2 util-linux"
    done = subprocess.run(
        ["unshare", "-n", "-m", "true"], capture_output=True, text=True, check=False
    )
    return f"no namespaces here: {done.stderr.strip()}" if done.returncode else None


@contextmanager
def running_hosts() -> Iterator[Hosts]:
    """Two hosts; whatever runs on them ends with the block."""
    folder = Path(tempfile.mkdtemp(prefix="groute-hosts-"))
    hosts = Hosts(folder)
    try:
        hosts.start()
        yield hosts
    finally:
        hosts.stop()
        shutil.rmtree(folder)


class Hosts:
    """The hosts `NAMES`, joined by a bridge in a namespace of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._holders: dict[str, subprocess.Popen[bytes]] = {}

    def start(self) -> None:
        addresses = {name: ADDRESS.format(k + 1) for k, name in enumerate(NAMES)}
        table = "".join(f"{address} {name}\n" for name, address in addresses.items())
        (self._folder / "hosts").write_text(f"127.0.0.1 localhost\n{table}")
        script = self._folder / "enter"
        script.write_text(ENTER.format(folder=self._folder))
        script.chmod(0o755)
        _ip("netns", "add", SWITCH)
        _ip("-n", SWITCH, "link", "add", "bridge", "type", "bridge")
        _ip("-n", SWITCH, "link", "set", "bridge", "up")
        for name, address in addresses.items():
            self._start_host(name, address)

    def _start_host(self, name: str, address: str) -> None:
        _ip("netns", "add", name)
        port = f"to-{name[-2:]}"
        _ip("link", "add", port, "netns", SWITCH, "type", "veth", "peer", "eth0", "netns", name)
        _ip("-n", SWITCH, "link", "set", port, "master", "bridge", "up")
        _ip("-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            _ip("-n", name, "link", "set", link, "up")
        ready = self._folder / f"{name}.pid"
        words = f"hostname {name} && mount --bind {self._folder}/hosts /etc/hosts &&"
        words += f" mount -t tmpfs tmpfs /dev/shm && echo $$ > {ready} && exec sleep infinity"
        self._holders[name] = subprocess.Popen(
            ["ip", "netns", "exec", name, "unshare", "-u", "-m", "-i", "sh", "-c", words]
        )
        deadline = time.monotonic() + 10
        while not (ready.exists() and ready.read_text().endswith("\n")):
            assert time.monotonic() < deadline, f"{name} does not start"
            time.sleep(0.02)

    def launch(self, each: int, *argv: object, **environ: str) -> subprocess.Popen[str]:
        """Start ``groute-py argv`` on ``each`` ranks of every host, from the first one."""
        launcher = ("launch", "mpirun", "--hosts", ",".join(NAMES), "--ntasks-per-node", each)
        words = [sys.executable, "-m", "groute_py", *launcher, "--submit", "--", *argv]
        return subprocess.Popen(
            [str(self._folder / "enter"), NAMES[0], "exec", *map(str, words)],
            env={**os.environ, "HYDRA_LAUNCHER_EXEC": str(self._folder / "enter"), **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def bytes_sent(self, name: str) -> int:
        """What a host has sent over its network so far."""
        path = "/sys/class/net/eth0/statistics/tx_bytes"
        return int(_ip("netns", "exec", name, "cat", path))

    def set_link(self, name: str, state: str) -> None:
        """``up`` or ``down``."""
        _ip("-n", name, "link", "set", "eth0", state)

    @contextmanager
    def hidden(self, name: str, folder: Path) -> Iterator[None]:
        """A folder is empty on a host meanwhile."""
        enter = "nsenter", "-t", str(self._holders_shell(name)), "-m"
        subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", str(folder)], check=True)
        try:
            yield
        finally:
            subprocess.run([*enter, "umount", str(folder)], check=True)

    def _holders_shell(self, name: str) -> int:
        """The process whose namespaces are the host's."""
        return int((self._folder / f"{name}.pid").read_text())

    def processes(self, name: str) -> set[int]:
        """All that runs on a host, but what keeps it there."""
        return {*map(int, _ip("netns", "pids", name).split())} - {self._holders[name].pid}

    def clear(self) -> None:
        """End all that runs on the hosts."""
        for name in NAMES:
            for process in self.processes(name):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    def stop(self) -> None:
        if self._holders.keys() == set(NAMES):
            self.clear()
        for holder in self._holders.values():
            holder.kill()
            holder.wait()
        for name in (*NAMES, SWITCH):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout
