"""The system call filter, decided by an interpreter of BPF written here."""

from __future__ import annotations

import errno
import re
import struct
from pathlib import Path

import pytest

from backtrader_bench.sandbox import seccomp

ALLOW, KILL = 0x7FFF0000, 0x80000000
UNIX, INET, VSOCK = 1, 2, 40
STREAM, DATAGRAM, CLOEXEC = 1, 2, 0o2000000
NEWUSER, VM_AND_THREAD = 0x10000000, 0x00010100
HEADER = Path("/usr/include/asm-generic/unistd.h")


def decide(program: bytes, machine: str, number: int, *arguments: int) -> int:
    """What the filter returns for a call."""
    values = [*arguments, *[0] * (6 - len(arguments))]
    data = struct.pack("=IIQ6Q", number, seccomp.AUDIT_ARCH[machine], 0, *values)
    steps = [struct.unpack_from("=HBBI", program, at) for at in range(0, len(program), 8)]
    at, held = 0, 0
    while True:
        code, true, false, value = steps[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("=I", data, value)[0]
        elif code == 0x54:
            held &= value
        elif code == 0x06:
            return value
        else:
            test = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += true if test else false


def refused(error: int) -> int:
    return 0x00050000 | error


@pytest.mark.parametrize("machine", list(seccomp.AUDIT_ARCH))
@pytest.mark.parametrize("network", [False, True])
@pytest.mark.parametrize("nested", [False, True])
def test_every_named_call_is_decided_and_others_pass(machine: str, network: bool, nested: bool) -> None:
    program = seccomp.program(network=network, nested=nested, machine=machine)
    column = list(seccomp.AUDIT_ARCH).index(machine)
    have = {name: numbers[column] for name, numbers in seccomp.NUMBERS.items()}
    for name, number in have.items():
        if number is None:
            continue
        got = decide(program, machine, number, 0, 0)
        if name in seccomp.UNKNOWN or (name == "clone3" and not nested):
            assert got == refused(errno.ENOSYS), name
        elif (
            name in seccomp.NEVER
            or (name in seccomp.NOT_NESTED and not nested)
            or (name in seccomp.NO_NETWORK and not network)
        ):
            assert got == refused(errno.EPERM), name
    named = set(have.values())
    assert all(decide(program, machine, number) == ALLOW for number in range(480) if number not in named)


def test_sockets() -> None:
    inside = seccomp.program(network=False, nested=False, machine="x86_64")
    agent = seccomp.program(network=True, nested=True, machine="x86_64")
    assert {decide(inside, "x86_64", 41, family) for family in (UNIX, INET, VSOCK)} == {refused(errno.EPERM)}
    assert {decide(agent, "x86_64", 41, family) for family in (UNIX, INET, 10, 16)} == {ALLOW}
    assert decide(agent, "x86_64", 41, VSOCK) == refused(errno.EAFNOSUPPORT)
    assert decide(inside, "x86_64", 53, UNIX, STREAM | CLOEXEC) == ALLOW
    assert decide(inside, "x86_64", 53, UNIX, DATAGRAM | CLOEXEC) == refused(errno.EPERM)


def test_namespaces_and_the_terminal() -> None:
    inside = seccomp.program(network=False, nested=False, machine="x86_64")
    agent = seccomp.program(network=True, nested=True, machine="x86_64")
    assert decide(inside, "x86_64", 56, VM_AND_THREAD) == ALLOW
    assert decide(inside, "x86_64", 56, NEWUSER | 17) == refused(errno.EPERM)
    assert decide(agent, "x86_64", 56, NEWUSER | 17) == ALLOW
    assert decide(agent, "x86_64", 16, 0, 0x5412) == refused(errno.EPERM)  # TIOCSTI
    assert decide(agent, "x86_64", 16, 0, 0x5401) == ALLOW  # TCGETS


@pytest.mark.parametrize("machine", list(seccomp.AUDIT_ARCH))
def test_limits_and_priorities_are_the_callers_own(machine: str) -> None:
    inside = seccomp.program(network=False, nested=False, machine=machine)
    agent = seccomp.program(network=True, nested=True, machine=machine)
    column = list(seccomp.AUDIT_ARCH).index(machine)
    cases = [("prlimit64", (0, 7), (4711, 7)), *((name, (0, 1), (4711, 1)) for name in seccomp.OWN)]
    cases += [("setpriority", (0, 0, 5), (0, 4711, 5)), ("setpriority", (0, 0, 5), (2, 0, 5))]  # PRIO_USER
    cases += [("ioprio_set", (1, 0), (1, 4711)), ("ioprio_set", (1, 0), (3, 0))]
    for name, own, others in cases:
        number = seccomp.NUMBERS[name][column]
        assert number is not None
        assert decide(inside, machine, number, *own) == ALLOW, name
        assert decide(inside, machine, number, *others) == refused(errno.EPERM), name
        assert (decide(agent, machine, number, *others) == ALLOW) is (name != "prlimit64"), name


def test_shared_memory_is_of_files_only() -> None:
    inside = seccomp.program(network=False, nested=False, machine="x86_64")
    shared, private, anonymous, validate = 1, 2, 0x20, 3
    for flags, decided in (
        (private | anonymous, ALLOW), (shared, ALLOW), (private, ALLOW), (shared | anonymous, refused(errno.EPERM)),
        (validate | anonymous, refused(errno.EPERM)),
    ):  # fmt: skip
        assert decide(inside, "x86_64", 9, 0, 4096, 3, flags) == decided


def test_calls_of_other_conventions_are_no_way_round() -> None:
    program = seccomp.program(network=False, nested=False, machine="x86_64")
    assert decide(program, "x86_64", 0x40000000 + 41, INET) == refused(errno.ENOSYS)
    assert decide(program, "aarch64", 198, INET) == KILL


@pytest.mark.skipif(not HEADER.exists(), reason="the kernel's headers are not installed")
def test_numbers_are_the_kernel_headers() -> None:
    text = HEADER.read_text()
    numbers = {name: int(value) for name, value in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    known = {name: both[1] for name, both in seccomp.NUMBERS.items() if name in numbers and both[1] is not None}
    assert len(known) > 80
    assert known == {name: numbers[name] for name in known}
