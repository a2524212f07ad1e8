"""Numbers of a program that its question only tells: they stand in sentences and nothing is computed with them. Pure.

``f"a commission of {0.37} percent"`` is a claim about the program as much as the same words without braces, and so is a
name that is set to 0.37 and put nowhere but into the sentence. This is read off the source: what goes through
containers, calls or arithmetic that changes nothing counts as computed with, and so does what is drawn.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from backtrader_bench.miner.folding import value

_WORD = re.compile(r"[A-Za-z]{2,}")
_HOLE = re.compile(r"\{[^{}]*\}|%[-+ #0-9.]*[sdfr]")
_FIGURE = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_SHOWS = frozenset({"str", "repr", "format", "round", "float", "int", "abs", "Decimal"})
"""Calls whose value is their first argument, for a reader."""
Part = ast.expr | str
"""Of a sentence: words, or what is put between them."""


@dataclass(frozen=True)
class Claim:
    """A number that a sentence of the question tells."""

    value: float
    percent: bool


@dataclass(frozen=True)
class Told:
    """What a program tells and doesn't use."""

    nodes: frozenset[int]
    """``id`` of every expression in its source that is only told."""
    names: frozenset[str]
    """Names that are only told, or never read."""
    claims: tuple[Claim, ...]


def told(tree: ast.AST, shown: str) -> Told:
    """What the program ``tree`` only tells in its question, of which ``shown`` is the text, blanks made single."""
    sets = _assignments(tree)
    begun = begun_sums(tree)
    sentences = [
        parts for node in ast.walk(tree)
        if id(node) not in begun and (parts := _sentence(node, sets)) and _stands(parts, shown)
    ]  # fmt: skip
    roots: list[ast.expr] = [part for parts in sentences for part in parts if isinstance(part, ast.expr)]
    loads: dict[str, set[int]] = {name: set() for name in sets}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in loads:
            loads[node.id].add(id(node))
    nodes: set[int] = set()
    order: list[str] = []
    """Each before what it is set to."""
    left = set(sets)
    while True:
        nodes.update(id(node) for root in roots for node in _read(root))
        fresh = sorted(name for name in left if loads[name] <= nodes)
        if not fresh:
            break
        left.difference_update(fresh)
        order += fresh
        roots = [one for name in fresh for one in sets[name]]
    numbers: dict[str, float] = {}
    for name in reversed(order):
        if (found := _number(sets[name][0], numbers)) is not None:
            numbers[name] = found
    return Told(frozenset(nodes), frozenset(order), tuple(_claims(sentences, numbers)))


def _assignments(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Names that are bound by plain assignments alone, outside class bodies -> what they are set to."""
    found: dict[str, list[ast.expr]] = {}
    plain: set[int] = set()
    inside = {id(one) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for one in node.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and id(node) not in inside and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
                    plain.add(id(target))
    otherwise = {node.id for node in ast.walk(tree)
                 if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in plain}
    otherwise |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    return {name: values for name, values in found.items() if name not in otherwise}


def _sentence(node: ast.AST, sets: dict[str, list[ast.expr]]) -> list[Part]:
    """The parts of what may be a sentence, in order; none for anything else."""
    if isinstance(node, ast.JoinedStr):
        return [_words(one) if isinstance(one, ast.Constant) else one for one in node.values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [part for side in added(node) for part in (_sentence(side, sets) or [_words(side)])]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(_words(node.left), str):
        given = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return _filled(str(_words(node.left)), given)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        text = _words(node.func.value)
        if isinstance(text, ast.Name) and len(sets.get(text.id, ())) == 1:
            text = _words(sets[text.id][0])
        if isinstance(text, str):
            return _filled(text, [*node.args, *(one.value for one in node.keywords)])
    if isinstance(node, ast.List | ast.Tuple):
        # A list may be data: of its items only what was made a text is told.
        return [_words(one) for one in node.elts if isinstance(_words(one), str) or isinstance(one, ast.Call)]
    return []


def begun_sums(tree: ast.AST) -> set[int]:
    """``id`` of the beginnings of sums.

    They say nothing that the whole does not, and a long sum has as many as terms.
    """
    return {id(node.left) for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)}


def added(node: ast.expr) -> list[ast.expr]:
    """The terms of ``a + b + c``, which may be many."""
    terms: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        terms.append(node.right)
        node = node.left
    return [node, *reversed(terms)]


def _words(node: ast.expr) -> Part:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else node


def _filled(text: str, given: list[ast.expr]) -> list[Part]:
    """A text with holes and what is put into them; by name or out of order it is only known what, not where."""
    pieces = _HOLE.split(text)
    if len(pieces) != len(given) + 1:
        return [*pieces, *given]
    return [pieces[0], *(part for one, piece in zip(given, pieces[1:], strict=True) for part in (one, piece))]


def _stands(parts: list[Part], shown: str) -> bool:
    """Whether these are words of the question, and more than a label."""
    words = [" ".join(piece.split()) for part in parts if isinstance(part, str) for piece in _HOLE.split(part)]
    return sum(len(_WORD.findall(text)) for text in words) >= 3 and all(text in shown for text in words)


def _read(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose value is shown by showing this one."""
    left = [node]
    while left:
        node = left.pop()
        yield node
        if isinstance(node, ast.FormattedValue):
            left.append(node.value)
        elif isinstance(node, ast.UnaryOp):
            left.append(node.operand)
        elif isinstance(node, ast.BinOp):
            left += [node.left, node.right]
        elif isinstance(node, ast.JoinedStr):
            left += node.values
        elif isinstance(node, ast.IfExp):
            left += [node.body, node.orelse]
        elif isinstance(node, ast.Call) and (shows := _shown_argument(node)) is not None:
            left.append(shows)


def _shown_argument(node: ast.Call) -> ast.expr | None:
    """What ``str(x)``, ``round(x, 2)`` or ``"{:.2f}".format(x)`` show."""
    name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr if isinstance(
        node.func, ast.Attribute) and isinstance(_words(node.func.value), str) else ""  # fmt: skip
    return node.args[0] if name in _SHOWS and node.args else None


def _number(node: ast.expr, names: dict[str, float]) -> float | None:
    """The number that an expression of constants shows."""
    if isinstance(node, ast.FormattedValue):
        return _number(node.value, names)
    if isinstance(node, ast.Call):
        shows = _shown_argument(node)
        return None if shows is None else _number(shows, names)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value.strip().rstrip("%").strip()
        return float(text.replace(",", "")) if _FIGURE.fullmatch(text) else None
    return value(node, names)


def _claims(sentences: list[list[Part]], names: dict[str, float]) -> Iterator[Claim]:
    for parts in sentences:
        for place, part in enumerate(parts):
            found = _number(part, names) if isinstance(part, ast.expr) else None
            if found is not None:
                after = parts[place + 1] if place + 1 < len(parts) else ""
                percent = isinstance(after, str) and re.match(r"\s?(%|percent|basis)", after) is not None
                yield Claim(abs(found), percent)
