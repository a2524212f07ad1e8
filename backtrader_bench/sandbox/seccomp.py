"""The seccomp filter of a room: which system calls the kernel refuses, as the bytes that it loads.

Written out here because it is installed where nothing is: by bubblewrap, and by a bare interpreter. A filter is a
list of classic BPF instructions, 8 bytes each (``struct sock_filter`` of linux/filter.h); it sees the call's number
and arguments, not what pointers point to.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator

_LOAD, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name -> (x86_64, aarch64), from the kernel's unistd.h; None where there is no such call.
NUMBERS: dict[str, tuple[int, int | None]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chmod": (90, None),
    "chown": (92, None),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "file_setattr": (469, 469),
    "finit_module": (313, 273),
    "fremovexattr": (199, 16),
    "fsconfig": (431, 431),
    "fsetxattr": (190, 7),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "futimesat": (261, None),
    "init_module": (175, 105),
    "inotify_add_watch": (254, 27),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "ioprio_set": (251, 30),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "lchown": (94, None),
    "lremovexattr": (198, 15),
    "lsetxattr": (189, 6),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "migrate_pages": (256, 238),
    "mmap": (9, 222),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "move_pages": (279, 239),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "msgctl": (71, 187),
    "msgget": (68, 186),
    "msgrcv": (70, 188),
    "msgsnd": (69, 189),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "open_tree_attr": (467, 467),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "prlimit64": (302, 261),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "reboot": (169, 142),
    "removexattr": (197, 14),
    "removexattrat": (466, 466),
    "request_key": (249, 218),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "semctl": (66, 191),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "sendmmsg": (307, 269),
    "sendmsg": (46, 211),
    "setns": (308, 268),
    "setpriority": (141, 140),
    "settimeofday": (164, 170),
    "setxattr": (188, 5),
    "setxattrat": (463, 463),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "truncate": (76, 45),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
    "utime": (132, None),
    "utimensat": (280, 88),
    "utimes": (235, None),
}
NEVER = (
    "acct", "add_key", "adjtimex", "bpf", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init",
    "finit_module", "init_module", "kexec_file_load", "kexec_load", "keyctl", "open_by_handle_at", "perf_event_open",
    "quotactl", "quotactl_fd", "reboot", "request_key", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd",
)  # fmt: skip
"""Nothing that answers or checks a question needs these, and each is a large or dangerous part of the kernel."""
_MOUNTS = (
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr", "move_mount", "open_tree",
    "open_tree_attr", "pivot_root", "setns", "umount2", "unshare",
)  # fmt: skip
"""What a sandbox within needs."""
_PROCESSES = (
    "kcmp", "migrate_pages", "move_pages", "pidfd_getfd", "process_madvise", "process_mrelease", "process_vm_readv",
    "process_vm_writev", "ptrace",
)  # fmt: skip
"""What reaches into other processes."""
_METADATA = (
    "chmod", "chown", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "file_setattr", "fremovexattr",
    "fsetxattr", "futimesat", "inotify_add_watch", "lchown", "lremovexattr", "lsetxattr", "removexattr",
    "removexattrat", "setxattr", "setxattrat", "truncate", "utime", "utimensat", "utimes",
)  # fmt: skip
"""What Landlock leaves open on files that it hides: their permissions, owner, times and attributes, their length
before Linux 6.2, and word of what happens to them."""
_SHARED = (
    "memfd_create", "memfd_secret", "mq_open", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget",
    "semop", "semtimedop", "shmat", "shmctl", "shmget",
)  # fmt: skip
"""Memory and queues that others of this machine have, that outlive a process, or that no limit counts."""
NOT_NESTED = (*_MOUNTS, *_PROCESSES, *_METADATA, *_SHARED)
"""What programs don't get that may make no sandbox of their own."""
NO_NETWORK = ("sendmmsg", "sendmsg")
"""Descriptors can be put aside in a socket with these, where nothing counts them."""
OWN = ("sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler")
"""Not nested: only for the caller itself, whose number is 0."""
UNKNOWN = ("io_uring_enter", "io_uring_register", "io_uring_setup")
"""Answered as if this kernel had no such call, so that libraries take their other way: its rings would get round the
filter."""
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing into the terminal that one was started from
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _TYPE_MASK = 1, 0xF
_PRIO_PROCESS, _IOPRIO_WHO_PROCESS = 0, 1
_MAP_SHARED_ANONYMOUS = 0x21


def supported() -> bool:
    """Whether this machine's call numbers are known here."""
    return platform.machine() in AUDIT_ARCH


def program(*, network: bool, nested: bool, machine: str | None = None) -> bytes:
    """The filter of a room. KeyError for a machine whose call numbers are not known here.

    Without ``network`` there are no sockets but connected pairs of streams (pipes that work both ways). A socket of
    an address family other than local, IPv4, IPv6 and netlink is never had: AF_VSOCK reaches the host of a virtual
    machine past every namespace.
    """
    machine = machine or platform.machine()
    column = list(AUDIT_ARCH).index(machine)
    number = {name: both[column] for name, both in NUMBERS.items()}
    code = [_step(_LOAD, _ARCH), _step(_JEQ, AUDIT_ARCH[machine], 1, 0), _step(_RET, _KILL), _step(_LOAD, _NUMBER)]
    if machine == "x86_64":  # the x32 calls have numbers of their own
        code += [_step(_JGE, 0x40000000, 0, 1), _refuse(errno.ENOSYS)]
    for name, body in _rules(network, nested):
        code += _when(number[name], body)
    return b"".join([*code, _allow()])


def _rules(network: bool, nested: bool) -> Iterator[tuple[str, list[bytes]]]:
    """Calls, and what decides each."""
    for name in (*NEVER, *(() if nested else NOT_NESTED), *(() if network else NO_NETWORK)):
        yield name, [_refuse(errno.EPERM)]
    for name in UNKNOWN:
        yield name, [_refuse(errno.ENOSYS)]
    # Limits of another process end it, or make it unable to start others or to close its files.
    yield "prlimit64", _only(0)
    if not nested:
        yield "clone", [_argument(0), _step(_JSET, _NAMESPACES, 0, 1), _refuse(errno.EPERM), _allow()]
        # Its flags lie behind a pointer; the C library falls back on clone.
        yield "clone3", [_refuse(errno.ENOSYS)]
        for name in OWN:
            yield name, _only(0)
        yield "setpriority", _only(_PRIO_PROCESS, 0)
        yield "ioprio_set", _only(_IOPRIO_WHO_PROCESS, 0)
        # Shared memory without a file is in no process's account once it is touched and unmapped.
        shared = [_argument(3), _step(_AND, _MAP_SHARED_ANONYMOUS), _step(_JEQ, _MAP_SHARED_ANONYMOUS, 0, 1)]
        yield "mmap", [*shared, _refuse(errno.EPERM), _allow()]
    yield "ioctl", _requests()
    yield "socket", _sockets() if network else [_refuse(errno.EPERM)]
    if not network:
        yield "socketpair", _pairs()


def _only(*wanted: int) -> list[bytes]:
    """The call with these first arguments alone."""
    tests = [
        step
        for index, value in enumerate(wanted)
        for step in (_argument(index), _step(_JEQ, value, 1, 0), _refuse(errno.EPERM))
    ]
    return [*tests, _allow()]


def _sockets() -> list[bytes]:
    families = (_UNIX, _INET, _INET6, _NETLINK)
    tests = [_step(_JEQ, family, len(families) - at, 0) for at, family in enumerate(families)]
    return [_argument(0), *tests, _refuse(errno.EAFNOSUPPORT), _allow()]


def _pairs() -> list[bytes]:
    """A pair of datagram sockets can still send to any path."""
    return [
        _argument(1), _step(_AND, _TYPE_MASK), _step(_JEQ, _STREAM, 1, 0), _refuse(errno.EPERM), _allow(),
    ]  # fmt: skip


def _requests() -> list[bytes]:
    tests = [_step(_JEQ, _TIOCSTI, 2, 0), _step(_JEQ, _TIOCLINUX, 1, 0)]
    return [_argument(1), *tests, _allow(), _refuse(errno.EPERM)]


def _when(number: int | None, body: list[bytes]) -> list[bytes]:
    """``body`` (which returns) for that call, the next instruction for any other; nothing without such a call."""
    return [] if number is None else [_step(_JEQ, number, 0, len(body)), *body]


def _argument(index: int) -> bytes:
    """Load the low half of an argument: all that the kernel looks at of flags, families and requests."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _refuse(error: int) -> bytes:
    return _step(_RET, _ERRNO | error)


def _allow() -> bytes:
    return _step(_RET, _ALLOW)


def _step(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)
