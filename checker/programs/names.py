"""What names of a program's source mean: ``rng`` after ``from numpy.random import default_rng as rng``."""

from __future__ import annotations

import ast
from collections.abc import Iterator


class Source:
    """A parsed program, and lookups over all of it. Scopes are merged: names mean what any part of it makes them."""

    def __init__(self, code: str) -> None:
        self.tree = ast.parse(code)
        self.nodes = list(ast.walk(self.tree))
        self.aliases: dict[str, str] = {}
        self.assigned: dict[str, list[ast.expr]] = {}
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in self.nodes:
            self._note(node)
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    def _note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.split(".")[0]
                self.aliases[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                self.aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.assigned.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            self.assigned.setdefault(node.target.id, []).append(node.value)

    def dotted(self, node: ast.AST) -> str:
        """The full name of an expression: ``numpy.random.rand`` for ``np.random.rand``; empty where it has none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        known = self.aliases.get(node.id)
        if known is None and parts and node.id not in _BUILTIN_TYPES:
            return ""  # an object of the program's own
        return ".".join([known or node.id, *reversed(parts)])

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Each call with the full name of what is called (empty where unknown)."""
        for node in self.nodes:
            if isinstance(node, ast.Call):
                yield node, self.dotted(node.func)

    def imports(self) -> Iterator[tuple[int, str]]:
        """Line and full name of each imported module."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield node.lineno, "." * node.level + (node.module or "")

    def constant(self, node: ast.AST | None) -> object:
        """The value of a constant, or of a name that is assigned one constant only; None otherwise."""
        if isinstance(node, ast.Name):
            values = self.assigned.get(node.id, [])
            node = values[0] if len(values) == 1 else None
        return node.value if isinstance(node, ast.Constant) else None


_BUILTIN_TYPES = frozenset({"bytes", "dict", "float", "int", "list", "object", "set", "str", "tuple"})


def argument(call: ast.Call, position: int, name: str) -> ast.expr | None:
    """An argument by its place or its name."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[position] if len(call.args) > position else None


def unpacks(call: ast.Call) -> bool:
    """Whether arguments come from a sequence or mapping, so that what is given can't be told."""
    return any(isinstance(arg, ast.Starred) for arg in call.args) or any(kw.arg is None for kw in call.keywords)


def words(text: str) -> frozenset[str]:
    """The words of a list that is kept as text."""
    return frozenset(text.split())
