"""Static checks: what a verifier takes from, or does to, the world outside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from backtrader_bench.checker.programs.names import Source, argument, words

Found = tuple[str, int, str, Literal["reject", "warn"]]

_NETWORK = words(
    "aiohttp ftplib http httpx imaplib pandas_datareader paramiko poplib requests smtplib socket socketserver ssl "
    "telnetlib urllib3 websocket websockets xmlrpc zmq"
)
_PROJECT = frozenset({"agents", "backtrader_bench", "checker", "mcq_builder", "miner", "templates"})
_NATIVE = frozenset({"_ctypes", "cffi", "ctypes", "numba", "cython", "_posixshmem"})
_PROCESSES = frozenset({"subprocess", "pty", "pexpect", "psutil", "_posixsubprocess", "posix"})
_OS_PROCESSES = (
    "os.system", "os.popen", "os.fork", "os.forkpty", "os.exec", "os.spawn", "os.posix_spawn", "os.kill", "os.killpg",
    "os.startfile", "os.setpriority", "os.sched_set", "resource.prlimit", "asyncio.create_subprocess",
)  # fmt: skip
_PERSON = frozenset({"getpass.getuser", "os.getlogin", "os.uname", "platform.node", "pwd.getpwuid", "pwd.getpwall"})
_DYNAMIC = frozenset({"eval", "exec", "compile", "__import__", "importlib.import_module", "runpy.run_path"})
_THREAD_SETTINGS = "_NUM_THREADS"
_SEED = "MCQ_SEED"
_READERS = frozenset({"open", "io.open", "pathlib.Path", "backtrader.feeds.GenericCSVData"})
_PANDAS_READERS = ("pandas.read_", "numpy.load", "numpy.genfromtxt", "numpy.fromfile", "numpy.memmap")
_CSV_FEEDS = ("GenericCSVData", "YahooFinanceCSVData", "BacktraderCSVData", "MT4CSVData", "SierraChartCSVData")
_LISTINGS = frozenset({"os.listdir", "os.scandir", "os.walk", "glob.glob", "glob.iglob", "os.path.expanduser"})


def imports(source: Source) -> Iterator[Found]:
    """Modules that have no place in a verifier."""
    for line, name in source.imports():
        top = name.split(".")[0]
        if top in _PROJECT or name.startswith("."):
            yield "project_import", line, f"import of {name}", "reject"
        elif top in _NETWORK or name.startswith("urllib.request"):
            yield "network", line, f"import of {name}", "reject"
        elif top in _NATIVE:
            yield "native_code", line, f"import of {name}", "reject"
        elif top in _PROCESSES:
            yield "processes", line, f"import of {name}", "reject"
        elif top in ("multiprocessing", "signal", "concurrent"):
            yield "processes", line, f"import of {name}", "warn"
        elif top == "yfinance":
            yield "network", line, "import of yfinance: there is no network where verifiers run", "warn"


def downloads(source: Source) -> Iterator[Found]:
    """Calls that fetch."""
    for call, name in source.calls():
        if name.startswith(("yfinance.", "urllib.request.")) or name.endswith("feeds.YahooFinanceData"):
            yield "network", call.lineno, f"call of {name}", "reject"


def processes_and_code(source: Source) -> Iterator[Found]:
    """Processes started or signalled, and code that can't be read here."""
    for call, name in source.calls():
        if name.startswith(_OS_PROCESSES):
            yield "processes", call.lineno, f"call of {name}", "reject"
        elif name in _DYNAMIC and not (call.args and isinstance(source.constant(call.args[0]), str)):
            yield "dynamic_code", call.lineno, f"call of {name} with a computed argument", "reject"
        elif name in _DYNAMIC:
            yield from _literal_code(source, call, name)
        elif name in _PERSON:
            yield "environment", call.lineno, f"call of {name}", "reject"
        elif name in ("getattr", "vars", "globals") and _of_module(source, call):
            yield "dynamic_code", call.lineno, f"{name} on a module", "reject"


def _literal_code(source: Source, call: ast.Call, name: str) -> Iterator[Found]:
    """An import by a written name counts as that import; text run as code is not looked into."""
    text = str(source.constant(call.args[0]))
    if name in ("__import__", "importlib.import_module"):
        inner = Source(f"import {text}") if text.replace(".", "").replace("_", "").isalnum() else Source("")
        yield from ((what, call.lineno, detail, how) for what, _, detail, how in imports(inner))
    else:
        yield "dynamic_code", call.lineno, f"call of {name}", "reject"


def _of_module(source: Source, call: ast.Call) -> bool:
    """``getattr(os, name)`` with a computed name: what it calls can't be told."""
    if len(call.args) < 2 or isinstance(source.constant(call.args[1]), str):
        return False
    return source.dotted(call.args[0]).split(".")[0] in ("os", "sys", "builtins", "__builtins__", "importlib", "posix")


def environment(source: Source) -> Iterator[Found]:
    """Variables other than the seed. Setting thread limits is no reading."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and source.dotted(node.func) in ("os.getenv", "os.environb"):
            yield from _variable(source, node.lineno, argument(node, 0, "key"))
        elif isinstance(node, ast.Attribute | ast.Name) and source.dotted(node) == "os.environ":
            yield from _environ(source, node)


def _environ(source: Source, node: ast.AST) -> Iterator[Found]:
    line: int = node.lineno  # type: ignore[attr-defined]
    parent = source.parents.get(node)
    if isinstance(parent, ast.Subscript):
        if isinstance(parent.ctx, ast.Load):
            yield from _variable(source, line, parent.slice)
    elif isinstance(parent, ast.Attribute) and parent.attr in ("get", "setdefault", "pop", "__getitem__"):
        call = source.parents.get(parent)
        key = argument(call, 0, "key") if isinstance(call, ast.Call) else None
        yield from _variable(source, line, key)
    elif isinstance(parent, ast.Compare):
        yield from _variable(source, line, parent.left)
    elif not isinstance(parent, ast.alias) and not (isinstance(parent, ast.Attribute) and parent.attr == "update"):
        yield "environment", line, "os.environ as a whole", "reject"


def _variable(source: Source, line: int, key: ast.expr | None) -> Iterator[Found]:
    name = source.constant(key) if key is not None else None
    if not isinstance(name, str):
        yield "environment", line, "a variable with a computed name", "reject"
    elif name != _SEED and not name.endswith(_THREAD_SETTINGS):
        yield "environment", line, f"variable {name[:50]}", "reject"


def files(source: Source) -> Iterator[Found]:
    """Files read: a path that is written out and not written to is somebody else's; computed ones are a doubt."""
    written = set(_written(source))
    for call, name in source.calls():
        if name in ("open", "io.open"):
            if _reads(source, call):
                yield from _path(source, call, argument(call, 0, "file"), written)
        elif name in ("os.open", "sqlite3.connect", "shelve.open", "linecache.getline"):
            yield "file_read", call.lineno, f"call of {name}", "reject"
        elif name.startswith(_PANDAS_READERS):
            yield from _path(source, call, call.args[0] if call.args else None, written)
        elif name.endswith(_CSV_FEEDS):
            yield from _path(source, call, argument(call, 0, "dataname"), written)
        elif name in _LISTINGS or name.startswith(("pathlib.Path.home", "pathlib.Path.cwd")):
            yield "file_read", call.lineno, f"call of {name}", "reject"
        elif isinstance(call.func, ast.Attribute) and call.func.attr in ("read_text", "read_bytes"):
            yield from _path(source, call, _of_path(source, call.func.value), written)


def _reads(source: Source, call: ast.Call) -> bool:
    mode = argument(call, 1, "mode")
    return mode is None or not str(source.constant(mode) or "r").startswith(("w", "x", "a"))


def _of_path(source: Source, node: ast.expr) -> ast.expr | None:
    """The text in ``Path(text)``, or in a name that was assigned it."""
    if isinstance(node, ast.Name) and len(source.assigned.get(node.id, [])) == 1:
        node = source.assigned[node.id][0]
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


def _written(source: Source) -> Iterator[str]:
    """Paths that the program writes: what ``open`` gets with a writing mode, what ``to_csv`` gets."""
    for call, name in source.calls():
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        target: ast.expr | None = None
        if name in ("open", "io.open") and not _reads(source, call):
            target = argument(call, 0, "file")
        elif method.startswith("to_") or name.startswith("numpy.save"):
            target = call.args[0] if call.args else None
        elif method in ("write_text", "write_bytes") and isinstance(call.func, ast.Attribute):
            target = _of_path(source, call.func.value)
        path = source.constant(target)
        if isinstance(path, str):
            yield path


def _path(source: Source, call: ast.Call, path: ast.expr | None, written: set[str]) -> Iterator[Found]:
    text = source.constant(path)
    if isinstance(text, str):
        if "://" in text:
            yield "network", call.lineno, text[:80], "reject"
        elif text not in written:
            yield "file_read", call.lineno, text[:80], "reject"
    elif not (isinstance(path, ast.Call) and source.dotted(path.func) in ("io.StringIO", "io.BytesIO")):
        yield "file_read", call.lineno, "a computed path or object", "warn"
