"""What every self-contained page needs: its parts' text, its templates, and the policy that forbids it any request."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

OWN = "backtrader_bench.mcq_builder.pages"


def text(name: str, package: str = OWN, folder: str = "files") -> str:
    """The text of a part that lies in ``folder`` of ``package``."""
    return (files(package) / folder / name).read_text(encoding="utf-8")


def script(own: str) -> str:
    """A page's whole script: what all pages share, then ``own``."""
    return text("common.js") + text("chart.js") + own


def style(own: str) -> str:
    """A page's whole style, likewise."""
    return text("common.css") + own


def templates(read: Callable[[str], str]) -> Environment:
    """Templates found by ``read``; all that is put into them is escaped, and a name that is not there is an error."""
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FunctionLoader(read), autoescape=True, trim_blocks=True, lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )  # fmt: skip


def policy(script: str) -> str:
    """A page's content security policy: nothing is fetched, and no script runs but this one."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    rules: dict[str, Any] = {
        "default-src": "'none'", "script-src": f"'sha256-{digest}'", "style-src": "'unsafe-inline'", "img-src": "data:",
        "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    return "; ".join(f"{name} {value}" for name, value in rules.items())
