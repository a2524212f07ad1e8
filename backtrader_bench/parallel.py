"""Running one function over many argument tuples: here, in local processes, or on a dask cluster.

The results come in the order of the arguments, whatever ran them, and arguments are taken as they are needed, so a
long run stays flat in memory.
"""

from __future__ import annotations

import os
import threading
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from backtrader_bench.errors import MissingError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Parallel = Callable[[Iterable[tuple[Any, ...]]], Iterator[Any]]


def spread(function: Callable[..., Any], jobs: int = 1, cluster: str | None = None) -> Parallel:
    """``function`` over argument tuples: ``spread(f, 2)([(1,), (2,)])`` yields ``f(1)``, ``f(2)``.

    ``jobs`` local processes (joblib's loky), or the workers of ``cluster`` (``dask://HOST:PORT``, extra ``cluster``).
    UsageError for another address, MissingError when the extra is not installed, nothing answers there, or a worker
    was killed.
    """
    if cluster is None and jobs == 1:
        return lambda arguments: (function(*one) for one in arguments)
    return lambda arguments: _spread(function, jobs, cluster, arguments)


def _spread(
    function: Callable[..., Any], jobs: int, cluster: str | None, arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    from concurrent.futures import BrokenExecutor

    from joblib import Parallel as Pool
    from joblib import delayed, parallel_config

    # More processes than twice the cores only cost their start.
    jobs = min(jobs, 2 * (os.cpu_count() or 1))
    parent = None if cluster else os.getpid()
    with connected(cluster), parallel_config("dask") if cluster else parallel_config("loky", n_jobs=jobs):
        pool = Pool(return_as="generator", pre_dispatch="2*n_jobs")
        try:
            yield from pool(delayed(_guarded)(parent, function, one) for one in arguments)
        except BrokenExecutor:
            raise MissingError(
                f"one of {jobs} worker processes was ended from outside, as a rule for lack of memory; fewer take less "
                "(--jobs 1)"
            ) from None


_guards: list[threading.Thread] = []


def _guarded(parent: int | None, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """``function`` in a worker that ends when its parent does, even by kill -9: an orphan would hold our pipes open."""
    if parent is not None and parent != os.getpid() and not _guards:
        _guards.append(threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True))
        _guards[0].start()
    return function(*arguments)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def connected(cluster: str | None) -> Any:
    """A context with a client of ``cluster``; of nothing without one."""
    if cluster is None:
        return nullcontext()
    scheme, _, address = cluster.partition("://")
    if scheme != "dask" or ":" not in address:
        raise UsageError(f"--cluster is {cluster!r}; it must be dask://HOST:PORT")
    try:
        from distributed import Client
    except ImportError:
        raise MissingError("--cluster needs the extra: pip install 'backtrader-bench[cluster]'") from None
    try:
        return Client(f"tcp://{address}", timeout=10)
    except (OSError, TimeoutError) as error:
        raise MissingError(f"no dask scheduler answers at {address}: {error}") from None
