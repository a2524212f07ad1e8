"""All templates by name. Adding one: a row here, an answer in the builder, an oracle in the checker."""

from __future__ import annotations

from backtrader_bench.templates.easy import EASY
from backtrader_bench.templates.hard import HARD
from backtrader_bench.templates.medium import MEDIUM
from backtrader_bench.templates.orders import ORDERS
from backtrader_bench.templates.template import Template

TEMPLATES: dict[str, Template] = {template.name: template for template in (*EASY, *MEDIUM, *HARD, *ORDERS)}
