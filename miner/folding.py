"""What arithmetic on constants amounts to, read off a program's source. Pure."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip


def value(node: ast.AST, names: Mapping[str, float], depth: int = 0) -> float | None:
    """A constant expression's value, names taken from ``names``; None for any other."""
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value) if abs(node.value) < 1e15 else None
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and depth < 8:
        inner = value(node.operand, names, depth + 1)
        return None if inner is None else -inner
    operation = _ARITHMETIC.get(type(node.op)) if isinstance(node, ast.BinOp) else None
    if operation is None or depth >= 8:
        return None
    assert isinstance(node, ast.BinOp)
    sides = value(node.left, names, depth + 1), value(node.right, names, depth + 1)
    if sides[0] is None or sides[1] is None or (sides[1] == 0 and isinstance(node.op, ast.Div)):
        return None
    return float(operation(sides[0], sides[1]))
