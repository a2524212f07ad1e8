"""Recorded scenarios of backtrader (tests/data/orders.jsonl) acted out on the checker's broker."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backtrader_bench.checker.orders.account import value_of
from backtrader_bench.checker.orders.broker import Broker, Notice
from backtrader_bench.checker.orders.indicators import atr
from backtrader_bench.checker.orders.order import Order
from backtrader_bench.checker.orders.prices import Bar, Slippage

Scenario = dict[str, Any]
NAMES = {"submitted": "Submitted", "accepted": "Accepted", "partial": "Partial", "completed": "Completed",
         "cancelled": "Canceled", "margin": "Margin", "rejected": "Rejected"}  # fmt: skip
SLIPPAGE = {"slip_perc": "percent", "slip_fixed": "fixed", "slip_open": "at_open", "slip_limit": "limit",
            "slip_match": "match", "slip_out": "out"}  # fmt: skip


def skipped(scenario: Scenario) -> str:
    """Why no strategy of ours can meet what a scenario needs; empty when it is to be run."""
    broker, actions = scenario["broker"], scenario["actions"]
    reasons = {
        "fills limited by volume": "filler" in broker,
        "orders that expire": any(action.get("valid") not in (None, 0) for action in actions),
        "orders at the session's close": any(action.get("exectype") == "Close" for action in actions),
        "a bracket sent in pieces": any(action.get("transmit") is False or action.get("parent") for action in actions),
        "cheating on open or close": bool(broker.get("coc") or broker.get("coo")),
        "futures, fixed fees, leverage or interest": bool(set(broker["commission"]) - {"commission"}),
        "shorts that cost cash": not broker.get("shortcash", True),
    }
    return ", ".join(reason for reason, found in reasons.items() if found)


@dataclass
class Actor:
    """A strategy that does what a scenario says, and writes down what it sees."""

    scenario: Scenario
    broker: Broker
    atr: Any
    ids: dict[str, Order] = field(default_factory=dict)
    made: list[list[Any]] = field(default_factory=list)
    events: list[list[Any]] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    levels: list[list[Any]] = field(default_factory=list)
    guards: dict[int, Order] = field(default_factory=dict)
    """The live stop of each policy."""

    @property
    def held(self) -> int:
        return self.broker.account.size

    @property
    def close(self) -> float:
        return self.broker.bars[self.broker.bar].close

    def play(self) -> None:
        for bar in range(len(self.broker.bars)):
            self.broker.step(bar)
            notices, self.broker.notices = self.broker.notices, []
            for notice in notices:
                self.hear(notice, bar)
            if bar >= self.first_next:
                for action in self.scenario["actions"]:
                    if action.get("at") == bar:
                        self.act(action)
                for number, policy in enumerate(self.scenario.get("policies") or []):
                    self.guard(number, policy, bar)
            self.look(bar)

    @property
    def first_next(self) -> int:
        return int((self.scenario.get("indicator") or {}).get("atr", 0))

    def hear(self, notice: Notice, bar: int) -> None:
        order = notice.order
        name = NAMES[notice.status]
        self.events.append([bar, order.ref, name, notice.filled, notice.average, notice.fee, notice.pnl, notice.when])
        for action in self.scenario["actions"]:
            wanted = action.get("on")
            if wanted and wanted[1] == name and self.ids.get(wanted[0]) is order:
                self.act(action)

    def act(self, action: Scenario) -> None:
        states = {"flat": self.held == 0, "in": self.held != 0, "long": self.held > 0, "short": self.held < 0}
        if not states.get(action.get("if", ""), True):
            return
        op = action["op"]
        if op == "cancel":
            if action["of"] in self.ids:
                self.broker.cancel(self.ids[action["of"]])
        elif op.endswith("_bracket"):
            self.bracket(action, 1 if op == "buy_bracket" else -1)
        else:
            size = self.size_of(action)
            if size:
                self.single(action, size)

    def size_of(self, action: Scenario) -> int:
        """Signed shares of a buy, a sell, a close or a target order."""
        op, held = action["op"], self.held
        if op in ("buy", "sell"):
            return int(action["size"]) * (1 if op == "buy" else -1)
        if op == "close":
            size = action["size"] if action.get("size") is not None else abs(held)
            return 0 if held == 0 else int(size) * (-1 if held > 0 else 1)
        target = action["target"]
        if op == "target_size":
            return int(target) - held
        if op == "target_percent":
            account = self.broker.account
            target = target * value_of(account.cash, held, account.entry, self.close)
        if target == 0 and held:
            return -held
        have = held * self.close
        size = int(abs(target - have) // self.close)
        return size if target > have else -size

    def price_of(self, given: Any) -> float | None:
        if not isinstance(given, dict):
            return None if given is None else float(given)
        source = given["from"]
        base = self.close if source == "close" else self.ids[source.removeprefix("fill:")].average
        distance = given["atr"] * self.atr[self.broker.bar] if "atr" in given else 0.0
        return float(base * given.get("mul", 1.0) + distance + given.get("add", 0.0))

    def single(self, action: Scenario, size: int) -> None:
        order = self.make(action["id"], action.get("exectype") or "Market", size, action)
        self.broker.send(order, oco=self.ids[action["oco"]] if action.get("oco") else None)

    def make(self, name: str, kind: str, size: int, given: Scenario, parent: Order | None = None) -> Order:
        order = self.broker.make(
            kind, size, price=self.price_of(given.get("price")), plimit=self.price_of(given.get("plimit")),  # type: ignore[arg-type]
            amount=given.get("trailamount", 0.0), percent=given.get("trailpercent", 0.0), parent=parent,
        )  # fmt: skip
        self.ids[name] = order
        side = "buy" if size > 0 else "sell"
        self.made.append([order.ref, name, side, kind, abs(size), order.bar, parent and parent.ref, order.price])
        return order

    def bracket(self, action: Scenario, sign: int) -> None:
        size, name = sign * action["size"], action["id"]
        main = self.make(name, action.get("exectype") or "Limit", size, action)
        members = [main]
        for child, default in (("stop", "Stop"), ("limit", "Limit")):
            kind = action.get(f"{child}exec", default)
            if kind:
                given = {"price": action.get(f"{child}price"), **action.get(f"{child}args", {})}
                members.append(self.make(f"{name}.{child}", kind, -size, given, main))
        self.broker.send(*members)

    def guard(self, number: int, policy: Scenario, bar: int) -> None:
        """The policy atr_stop: a stop at a distance from the close, moved by cancel and a new order."""
        live = self.guards.get(number)
        if live is not None and not live.live:
            live = None
        if not self.held or bar < policy["from"]:
            if live is not None and not self.held:
                self.broker.cancel(live)
            return
        sign = 1 if self.held > 0 else -1
        level = self.close - sign * policy["mult"] * self.atr[bar]
        if live is not None:
            if policy["ratchet"] and sign * level <= sign * live.price:
                return
            self.broker.cancel(live)
        order = self.make(f"policy{number}@{bar}", "Stop", -self.held, {"price": level})
        self.broker.send(order)
        self.guards[number] = order

    def look(self, bar: int) -> None:
        account = self.broker.account
        worth = value_of(account.cash, account.size, account.entry, self.close)
        queue = sorted(order.ref for order in self.broker.queue)
        self.rows.append([account.cash, worth, account.size, account.entry, queue])
        for order in self.broker.orders:
            if order.trail is not None and (order.live or order.status == "created"):
                self.levels.append([bar, order.ref, order.price, order.limit])


def play(scenario: Scenario) -> Actor:
    """Run a scenario through the checker's broker."""
    bars = [Bar(*(float(price) for price in row[1:5])) for row in scenario["bars"]]
    given = scenario["broker"]
    slippage = Slippage(**{SLIPPAGE[name]: value for name, value in given.get("slippage", {}).items()})
    broker = Broker(
        bars, given["cash"], given["commission"]["commission"], slippage, check=given.get("checksubmit", True)
    )
    period = (scenario.get("indicator") or {}).get("atr")
    columns = [np.array(column) for column in zip(*bars, strict=True)]
    actor = Actor(scenario, broker, atr(*columns[1:], period) if period else None)
    actor.play()
    return actor


def same(one: Any, other: Any) -> bool:
    """Equal within the tolerance of the recorded figures, which are rounded to 1e-9."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float | int) and isinstance(other, float | int):
        return abs(one - other) <= 2e-9 * max(1.0, abs(other))
    return bool(one == other)


def differences(scenario: Scenario, actor: Actor) -> dict[str, tuple[Any, Any]]:
    """(ours, recorded) of the first entry of each list that differs."""
    truth = scenario["truth"]
    trades = [[t.close_bar, t.open_bar, t.close_bar, t.side, t.entry, t.gross, t.net, t.fees]
              for t in actor.broker.account.closed]  # fmt: skip
    pairs = {
        "orders": (actor.made, [row[:8] for row in truth["orders"]]),
        "events": (actor.events, truth["events"]),
        "trades": (trades, truth["trades"]),
        "bars": (actor.rows, [[*row[:4], sorted(row[4])] for row in truth["bars"]]),
        "levels": (actor.levels, truth["levels"]),
    }
    found = {}
    for name, (ours, theirs) in pairs.items():
        for place in range(max(len(ours), len(theirs))):
            one, other = (rows[place] if place < len(rows) else None for rows in (ours, theirs))
            if not same(one, other):
                found[name] = (one, other)
                break
    return found
