"""Static checks: what makes two runs with one seed differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Literal

from backtrader_bench.checker.programs.names import Source, argument, unpacks, words

Found = tuple[str, int, str, Literal["reject", "warn"]]

_GLOBAL_RANDOM = words(
    "betavariate binomialvariate choice choices expovariate gammavariate gauss getrandbits lognormvariate "
    "normalvariate paretovariate randbytes randint random randrange sample shuffle triangular uniform "
    "vonmisesvariate weibullvariate"
)
_NUMPY_MADE = words(
    "BitGenerator Generator MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence default_rng "
    "get_state set_state seed mtrand bit_generator"
)
_SEEDABLE = frozenset(
    ["random.Random", "random.seed"]
    + [
        f"numpy.random.{name}"
        for name in words("MT19937 PCG64 PCG64DXSM Philox RandomState SFC64 SeedSequence default_rng seed")
    ]
)
_NEVER_SEEDED = ("random.SystemRandom", "secrets.", "os.urandom", "os.getrandom", "uuid.uuid1", "uuid.uuid4")
_WALL = words(
    "time.time time.time_ns datetime.datetime.now datetime.datetime.today datetime.datetime.utcnow "
    "datetime.date.today datetime.now datetime.today datetime.utcnow date.today pandas.Timestamp.now "
    "pandas.Timestamp.today pandas.Timestamp.utcnow pandas.to_datetime.now"
)
_WALL_WITHOUT_ARGUMENT = {"time.localtime": 0, "time.gmtime": 0, "time.ctime": 0, "time.asctime": 0, "time.strftime": 1}
_STOPWATCH = frozenset(
    f"time.{name}{ns}" for name in ("perf_counter", "monotonic", "process_time", "thread_time") for ns in ("", "_ns")
)
_ORDERED = frozenset({"list", "tuple", "enumerate", "iter", "next", "map", "zip", "dict.fromkeys", "numpy.array"})
_UNORDERED_USE = frozenset({"sorted", "len", "sum", "min", "max", "any", "all", "set", "frozenset", "bool"})


def generators(source: Source) -> Iterator[Found]:
    """Global generators that nobody seeds, and generators made without a seed."""
    makers = ("random.seed", "numpy.random.seed")
    seeded = {name for call, name in source.calls() if name in makers and _has_seed(call)}
    for call, name in source.calls():
        if name in _SEEDABLE:
            if not _has_seed(call):
                yield "unseeded_random", call.lineno, f"{name} without a seed", "reject"
        elif name.startswith(_NEVER_SEEDED):
            yield "unseeded_random", call.lineno, name, "reject"
        elif _is_global(name, "random.", _GLOBAL_RANDOM) and "random.seed" not in seeded:
            yield "unseeded_random", call.lineno, f"{name} without random.seed", "reject"
        elif _is_numpy_global(name) and "numpy.random.seed" not in seeded:
            yield "unseeded_random", call.lineno, f"{name} without numpy.random.seed", "reject"
        elif _samples(source, call) and "numpy.random.seed" not in seeded:
            yield "unseeded_random", call.lineno, ".sample() without random_state", "warn"


def _is_global(name: str, prefix: str, functions: frozenset[str]) -> bool:
    return name.startswith(prefix) and name.removeprefix(prefix) in functions


def _is_numpy_global(name: str) -> bool:
    function = name.removeprefix("numpy.random.")
    return function != name and "." not in function and function not in _NUMPY_MADE


def _has_seed(call: ast.Call) -> bool:
    if unpacks(call):
        return True
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    return bool(given) and not (isinstance(given[0], ast.Constant) and given[0].value is None)


def _samples(source: Source, call: ast.Call) -> bool:
    """``frame.sample(...)``: an object of a class that is not known here."""
    return (
        isinstance(call.func, ast.Attribute)
        and call.func.attr == "sample"
        and not source.dotted(call.func)
        and argument(call, 4, "random_state") is None
        and len(call.args) < 2
    )


def clocks(source: Source) -> Iterator[Found]:
    """The wall clock, but for differences of its readings; a stopwatch shows in the runs where it matters."""
    for call, name in source.calls():
        if name in _STOPWATCH:
            yield "clock", call.lineno, f"call of {name}", "warn"
        elif name in _WALL:
            timing = _only_for_differences(source, call)
            yield "clock", call.lineno, f"call of {name}", "warn" if timing else "reject"
        elif name in _WALL_WITHOUT_ARGUMENT and len(call.args) <= _WALL_WITHOUT_ARGUMENT[name]:
            yield "clock", call.lineno, f"call of {name} for the present", "reject"
    for node in source.nodes:
        if isinstance(node, ast.Constant) and node.value in ("now", "today"):
            call_of = source.parents.get(node)
            if isinstance(call_of, ast.Call) and source.dotted(call_of.func).startswith(("pandas.", "numpy.")):
                yield "clock", node.lineno, f"the date {node.value!r}", "reject"


def _only_for_differences(source: Source, call: ast.Call) -> bool:
    """``start = time.time()`` ... ``time.time() - start``: how long it took, not when."""
    parent = source.parents.get(call)
    if isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub):
        return isinstance(parent.right, ast.Name) and parent.left is call and _readings(source, parent.right.id)
    if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0].id
        uses = [
            node
            for node in source.nodes
            if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
        ]
        return _readings(source, name) and all(_subtracted(source, use) for use in uses)
    return False


def _readings(source: Source, name: str) -> bool:
    values = source.assigned.get(name, [])
    return bool(values) and all(isinstance(v, ast.Call) and source.dotted(v.func) in _WALL for v in values)


def _subtracted(source: Source, use: ast.AST) -> bool:
    parent = source.parents.get(use)
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Sub)


def hashes(source: Source) -> Iterator[Found]:
    """``hash`` of text differs from interpreter to interpreter, ``id`` is an address."""
    for call, name in source.calls():
        if name == "hash" and call.args:
            text = isinstance(call.args[0], ast.JoinedStr) or isinstance(source.constant(call.args[0]), str)
            yield "hash_order", call.lineno, "hash of a value", "reject" if text else "warn"
        elif name == "id" and call.args:
            yield "hash_order", call.lineno, "id of an object", "warn"


def sets(source: Source) -> Iterator[Found]:
    """The order of a set, put to use. Sets of numbers written out have a stable one."""
    for node in source.nodes:
        if isinstance(node, ast.For | ast.comprehension) and _is_set(source, node.iter):
            line = node.iter.lineno
            yield "hash_order", line, "goes through a set", _severity(source, node, node.iter)
        elif isinstance(node, ast.Call):
            yield from _set_call(source, node)


def _set_call(source: Source, call: ast.Call) -> Iterator[Found]:
    name, line = source.dotted(call.func), call.lineno
    if isinstance(call.func, ast.Attribute):
        if call.func.attr == "pop" and not call.args and _is_set(source, call.func.value):
            yield "hash_order", line, "pop from a set", _of_text(source, call.func.value)
        if call.func.attr == "join" and call.args and _is_set(source, call.args[0]):
            yield "hash_order", line, "text joined from a set", "reject"
    if name in _ORDERED and call.args and _is_set(source, call.args[0]):
        yield "hash_order", line, f"{name} of a set", _severity(source, call, call.args[0])


def _severity(source: Source, node: ast.AST, made: ast.expr) -> Literal["reject", "warn"]:
    """A doubt where what comes of it is sorted, counted or added up at once."""
    parent = source.parents.get(node)
    while isinstance(parent, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.Call):
        if isinstance(parent, ast.SetComp) or (
            isinstance(parent, ast.Call) and source.dotted(parent.func) in _UNORDERED_USE
        ):
            return "warn"
        parent = source.parents.get(parent)
    return _of_text(source, made)


def _of_text(source: Source, made: ast.expr) -> Literal["reject", "warn"]:
    """Whether the set is seen to hold text: numbers don't change their order, of others nothing is known here."""
    if isinstance(made, ast.Name):
        made = source.assigned[made.id][0]
    return "reject" if any(_is_text(source, part) for part in ast.walk(made)) else "warn"


def _is_text(source: Source, node: ast.AST) -> bool:
    if isinstance(node, ast.Name):
        parts = [part for value in source.assigned.get(node.id, []) for part in ast.walk(value)]
        return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_set(source: Source, node: ast.AST) -> bool:
    if isinstance(node, ast.Set | ast.SetComp):
        return not (isinstance(node, ast.Set) and all(_is_number(element) for element in node.elts))
    if isinstance(node, ast.Call):
        return source.dotted(node.func) in ("set", "frozenset") and bool(node.args)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return _is_set(source, node.left) or _is_set(source, node.right)
    if isinstance(node, ast.Name):
        values = source.assigned.get(node.id, [])
        return bool(values) and all(not isinstance(value, ast.Name) and _is_set(source, value) for value in values)
    return False


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def empty_arrays(source: Source) -> Iterator[Found]:
    """``numpy.empty``: right where every element is written, which only the runs show."""
    for call, name in source.calls():
        if name in ("numpy.empty", "numpy.empty_like", "numpy.ndarray"):
            yield "uninitialised_memory", call.lineno, f"call of {name}", "warn"
