"""Every error a user can meet, one class a boundary.

    BenchError            one line for the user, with the fix where there is one; exit code 2
    +-- UsageError        an option, a configuration file or a combination of them is wrong
    +-- DataError         a price file or a tape breaks the contract of a tape
    +-- BacktestError     a backtest cannot be run as asked (too few bars, a parameter out of range)
    +-- RecordError       a line of a question file is not a record
    +-- StoreError        a file cannot be read or written (missing, read-only, disk full)
    +-- HarnessError      asking an agent failed by a fault of this program, not of the agent's
    +-- MissingError      something outside is needed and is not there (network, data, an extra); exit code 3
    +-- SandboxError      this machine can't keep untrusted code in as asked; exit code 3
    +-- LockedError       another process holds the file; exit code 4

Anything else that escapes is a defect of ours and shows its traceback.
"""

from __future__ import annotations


class BenchError(Exception):
    """A problem that one line explains. ``exit_code`` is what the command ends with."""

    exit_code = 2


class UsageError(BenchError):
    """An option or a configuration that can't be used as given."""


class DataError(BenchError):
    """Price data that breaks the contract of a tape."""


class BacktestError(BenchError):
    """A backtest that can't be run as asked."""


class RecordError(BenchError):
    """A question record that can't be read."""


class StoreError(BenchError):
    """A file that can't be read or written."""


class HarnessError(BenchError):
    """This program failed while it asked an agent: nothing is known of the agent's answer."""


class MissingError(BenchError):
    """Something outside this program is needed and is not there."""

    exit_code = 3


class SandboxError(BenchError):
    """Untrusted code can't be kept in as asked on this machine."""

    exit_code = 3


class LockedError(BenchError):
    """Another process holds what this one needs."""

    exit_code = 4
