"""The seccomp filter of a room: which system calls the kernel refuses, as the bytes that it loads.

Written out here because it is installed where nothing is: by bubblewrap, and by a bare interpreter. A filter is a
list of classic BPF instructions, 8 bytes each (``struct sock_filter`` of linux/filter.h); it sees the call's number
and arguments, not what pointers point to.
"""

from __future__ import annotations

import errno
import platform
import struct

_LOAD, _JEQ, _JGE, _JSET, _AND, _RET = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCH, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name -> (x86_64, aarch64), from the kernel's unistd.h.
NUMBERS: dict[str, tuple[int, int]] = {
    "acct": (163, 89),
    "add_key": (248, 217),
    "adjtimex": (159, 171),
    "bpf": (321, 280),
    "chroot": (161, 51),
    "clock_adjtime": (305, 266),
    "clock_settime": (227, 112),
    "clone": (56, 220),
    "clone3": (435, 435),
    "delete_module": (176, 106),
    "fanotify_init": (300, 262),
    "finit_module": (313, 273),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fsopen": (430, 430),
    "fspick": (433, 433),
    "init_module": (175, 105),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "io_uring_setup": (425, 425),
    "ioctl": (16, 29),
    "kcmp": (312, 272),
    "kexec_file_load": (320, 294),
    "kexec_load": (246, 104),
    "keyctl": (250, 219),
    "mount": (165, 40),
    "mount_setattr": (442, 442),
    "move_mount": (429, 429),
    "msgget": (68, 186),
    "open_by_handle_at": (304, 265),
    "open_tree": (428, 428),
    "perf_event_open": (298, 241),
    "pidfd_getfd": (438, 438),
    "pivot_root": (155, 41),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "ptrace": (101, 117),
    "quotactl": (179, 60),
    "reboot": (169, 142),
    "request_key": (249, 218),
    "semget": (64, 190),
    "setns": (308, 268),
    "settimeofday": (164, 170),
    "shmget": (29, 194),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "swapoff": (168, 225),
    "swapon": (167, 224),
    "syslog": (103, 116),
    "umount2": (166, 39),
    "unshare": (272, 97),
    "userfaultfd": (323, 282),
}
NEVER = (
    "acct", "add_key", "adjtimex", "bpf", "clock_adjtime", "clock_settime", "delete_module", "fanotify_init",
    "finit_module", "init_module", "kexec_file_load", "kexec_load", "keyctl", "open_by_handle_at", "perf_event_open",
    "quotactl", "reboot", "request_key", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd",
)  # fmt: skip
"""Nothing that answers or checks a question needs these, and each is a large or dangerous part of the kernel."""
NOT_NESTED = (
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "kcmp", "mount", "mount_setattr", "move_mount", "msgget",
    "open_tree", "pidfd_getfd", "pivot_root", "process_vm_readv", "process_vm_writev", "ptrace", "semget", "setns",
    "shmget", "umount2", "unshare",
)  # fmt: skip
"""What a sandbox within needs, and what reaches into other processes."""
UNKNOWN = ("io_uring_enter", "io_uring_register", "io_uring_setup")
"""Answered as if this kernel had no such call, so that libraries take their other way: its rings would get round the
filter."""
_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C  # typing into the terminal that one was started from
_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_STREAM, _TYPE_MASK = 1, 0xF


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
    for name in (*NEVER, *(() if nested else NOT_NESTED)):
        code += _when(number[name], [_refuse(errno.EPERM)])
    for name in UNKNOWN:
        code += _when(number[name], [_refuse(errno.ENOSYS)])
    if not nested:
        code += _when(number["clone"], [_argument(0), _step(_JSET, _NAMESPACES, 0, 1), _refuse(errno.EPERM), _allow()])
        # Its flags lie behind a pointer; the C library falls back on clone.
        code += _when(number["clone3"], [_refuse(errno.ENOSYS)])
    code += _when(number["ioctl"], _requests())
    code += _when(number["socket"], _sockets() if network else [_refuse(errno.EPERM)])
    if not network:
        code += _when(number["socketpair"], _pairs())
    return b"".join([*code, _allow()])


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


def _when(number: int, body: list[bytes]) -> list[bytes]:
    """``body`` (which returns) for that call, the next instruction for any other."""
    return [_step(_JEQ, number, 0, len(body)), *body]


def _argument(index: int) -> bytes:
    """Load the low half of an argument: all that the kernel looks at of flags, families and requests."""
    return _step(_LOAD, _ARGUMENTS + 8 * index)


def _refuse(error: int) -> bytes:
    return _step(_RET, _ERRNO | error)


def _allow() -> bytes:
    return _step(_RET, _ALLOW)


def _step(code: int, value: int, true: int = 0, false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, true, false, value)
