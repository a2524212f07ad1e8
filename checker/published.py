"""Published records: no parameters, no window of bars, no typed value; all of it is read from the text.

Their conventions differ from ours in a few places, all of which are here: 365 periods a year over rows, two
decimals for the Calmar ratio, the window of ``rolling_window_mean`` called ``pslow``, the trough's date in
the recovery, and fixed fillers where a metric is undefined.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from backtrader_bench.checker.answers import Answer, Count, Day, Label, Number, Params, Part
from backtrader_bench.checker.claim import Claim, contradictions, oracle_named, spec_of, text_of
from backtrader_bench.checker.oracles import measures
from backtrader_bench.checker.oracles.case import held_rows
from backtrader_bench.checker.reading import FORMS, Parts, match
from backtrader_bench.errors import RecordError
from backtrader_bench.records import LETTERS, question_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from backtrader_bench.checker.oracles import Case

PERIODS_PER_YEAR = 365.0
NOTE = "read from the text, with 365 periods a year and capped sizing"

FILL = "[^#~$%@&]*"
OTHER_FORMS = {
    name: form.replace("_", FILL)
    for name, form in {
        "trade_outcomes": "# profitable _# losing",
        "total_shares_traded": "# bought _# sold _#_ total_",
        "days_in_position": "# days_ in _# days_ out _#_ total_",
        "best_trade_day": r"@ with _\$",
        "drawdown_recovery_days": r"# _@ _recovered _@\)",
        "sma_comparison": r"& with _\$",
        "signal_diff": r"# vs # \(difference of #\)",
    }.items()
}
# Template -> a word or two that only its stem has, so that a changed `type` is noticed.
MARKS = {
    "first_close": "first close",
    "volume": "volume",
    "broker_cash": "broker cash",
    "portfolio_value": "is portfolio value",
    "sma": r"is SMA\(",
    "max_shares": "maximum number of shares",
    "position_on_date": "how many shares does",
    "crossovers": "crossover events",
    "buy_sell_signals": "buy and sell signals",
    "first_buy": "first buy",
    "trade_outcomes": "profitable and losing",
    "net_pnl": "net profit/loss",
    "commission": "commission fee",
    "total_shares_traded": "total shares",
    "days_in_position": "in a position",
    "peak_portfolio_date": "highest value",
    "best_trade_day": "most profitable",
    "strategy_action_on_date": "What action",
    "nth_trade_pnl": "closed trade",
    "cash_after_nth_order": "cash balance",
    "max_drawdown": "maximum portfolio drawdown",
    "roi_percentage": r"\(ROI\)",
    "win_rate": "win rate",
    "profit_factor": "profit factor",
    "annualized_return": "annualized return over",
    "avg_holding_period": "average number",
    "golden_cross_count": "golden crosses",
    "max_drawdown_window": "interval",
    "drawdown_recovery_days": "recover",
    "calmar_ratio": "Calmar",
    "exposure_adjusted_return": "exposure-adjusted",
    "sma_comparison": "better net",
    "signal_diff": "buy signals",
}
DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
SET = re.compile(r"\(pfast=([0-9]{1,9}), pslow=([0-9]{1,9})\)")
NTH = re.compile(r"\b([0-9]{1,9})(?:st|nd|rd|th)\b")
OPTION = re.compile(r"^([A-D])\. (.*?)\s*$", re.MULTILINE)
SETTING = re.compile(r"^- (\w+): (.*?)\s*$", re.MULTILINE)
DEFAULTS = {"rsi_strategy": {"pfast": 12, "pslow": 20}}


def published_claim(fields: Mapping[str, Any]) -> Claim:
    """The claim of a decoded published record; RecordError or BacktestError says why it can't be checked."""
    texts = {name: text_of(fields, name) for name in ("question", "answer", "type", "difficulty")}
    config = fields.get("config")
    if not isinstance(config, dict) or not isinstance(config.get("strategy_params"), dict):
        raise RecordError("config: expected an object with strategy_params")
    if texts["type"] not in MARKS:
        oracle_named(texts["type"])
        raise RecordError(f"type {texts['type']!r} is not among the published ones")
    strategy = text_of(config, "strategy_name")
    spec = spec_of(config, own_params(strategy, config["strategy_params"]), "capped")
    stem, options = _parts_of(texts["question"])
    asked, drift = _asked(texts["type"], stem, spec.params)
    outer = contradictions(
        texts["difficulty"], texts["type"], fields.get("strategy_name"), fields.get("strategy_params"), config
    )
    if texts["answer"] not in LETTERS:
        raise RecordError("the answer must be A, B, C or D")
    return Claim(
        id=question_id(stem, options),
        template=texts["type"],
        difficulty=texts["difficulty"],
        symbol=text_of(config, "symbol"),
        start=text_of(config, "start_date"),
        end=text_of(config, "end_date"),
        spec=spec,
        periods_per_year=PERIODS_PER_YEAR,
        asked=asked,
        texts=options,
        options={letter: read(texts["type"], text) for letter, text in options.items()},
        key=texts["answer"],
        tape=None,
        question=None,
        stem=stem,
        drift=(*outer, *drift, *_stated_config(texts["question"], config)),
        notes=(NOTE,),
    )


def own_params(strategy: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters under our names, with the published defaults."""
    found = {"target_percent": 1.0, **DEFAULTS.get(strategy, {}), **params}
    if strategy == "rolling_window_mean" and "pslow" in found:
        found["window"] = found.pop("pslow")
    return found


def _parts_of(question: str) -> tuple[str, dict[str, str]]:
    """The stem (the paragraph before the options) and the options of a published text."""
    found = list(OPTION.finditer(question))
    if tuple(one[1] for one in found) != LETTERS:
        raise RecordError("the text doesn't hold options A to D, one a line")
    before = question[: found[0].start()].rstrip()
    return before.rpartition("\n\n")[2].strip(), {one[1]: one[2] for one in found}


def _asked(template: str, stem: str, params: Mapping[str, int | float]) -> tuple[dict[str, Any], list[str]]:
    """``template_params`` as the stem states them, and what contradicts the type or the configuration."""
    drift = [] if re.search(MARKS[template], stem) else [f"the stem doesn't ask for {template}"]
    slow = "window" if "window" in params else "pslow"
    match template:
        case "volume" | "broker_cash" | "portfolio_value" | "position_on_date" | "strategy_action_on_date":
            return {"date": _only(DATE.findall(stem), "date", 1)[0]}, drift
        case "sma":
            return {
                "which": _which(stem, params, slow),
                "date": _only(DATE.findall(stem), "date", 1)[0],
            }, drift
        case "nth_trade_pnl" | "cash_after_nth_order":
            return {"n": int(_only(NTH.findall(stem), "ordinal number", 1)[0])}, drift
        case "golden_cross_count":
            start, end = _only(DATE.findall(stem), "date", 2)
            return {"from": start, "to": end}, drift
        case "sma_comparison" | "signal_diff":
            first, second = ((int(a), int(b)) for a, b in _only(SET.findall(stem), "parameter set", 2))
            if first != (params["pfast"], params[slow]):
                drift.append("the first parameter set of the stem is not the configuration's")
            return {"alternative": {"pfast": second[0], slow: second[1]}}, drift
    return {}, drift


def _only(found: list[Any], what: str, count: int) -> list[Any]:
    if len(found) != count:
        raise RecordError(f"the stem holds {len(found)} of {count} {what}(s)")
    return found


def _which(stem: str, params: Mapping[str, int | float], slow: str) -> str:
    n = int(_only(re.findall(r"SMA\(([0-9]{1,9})\)", stem), "average", 1)[0])
    if n not in (params["pfast"], params[slow]):
        raise RecordError(f"the stem asks for SMA({n}), which is not recorded")
    return "fast" if n == params["pfast"] else "slow"


def _stated_config(question: str, config: Mapping[str, Any]) -> list[str]:
    """Lines of the text's configuration block that say something else than ``config``."""
    block = question.split("\n\n")[1] if question.count("\n\n") > 1 else ""
    stated = dict(SETTING.findall(block))
    return [
        f"the text's {name} is not the configuration's"
        for name, value in config.items()
        if name != "difficulty_levels" and stated.get(name) != str(value)
    ]


def read(template: str, text: str) -> Parts | None:
    """The parts of a published option, None when it isn't written as that template's options are."""
    if template == "strategy_action_on_date":
        return _action(text)
    if template == "drawdown_recovery_days" and re.search(r"(not|never) recover", text, re.IGNORECASE):
        return (Label("not recovered"),)
    return match(OTHER_FORMS.get(template, FORMS[template]), text)


def _action(text: str) -> Parts | None:
    """``buy``, ``sell``, ``nothing`` or another outcome in its words, and the shares where the text names them."""
    word = re.match(r"(buy and sell|buy|sell|no action)\b", text, re.IGNORECASE)
    if not word:
        return None
    shares = re.findall(r"\b([0-9]{1,15}) shares\b", text)
    label = word[1].lower()
    if label == "no action":
        # The other kinds of inaction name a signal that came to nothing.
        label = " ".join(text.lower().split()) if "signal" in text else "nothing"
    return Label(label), Count(int(shares[0]) if shares else None)


def adapt(template: str, answer: Answer, case: Case) -> Answer:
    """Our answer in the shape that published options have."""
    match template:
        case "strategy_action_on_date":
            return Answer(_action_truth(case))
        case "drawdown_recovery_days" if len(answer.parts) == 2:
            fall = measures.max_drawdown(case.result.value)
            return Answer((answer.parts[0], Day(case.date(fall.trough)), answer.parts[1]))
    return Answer(tuple(_adapted(part) for part in answer.parts))


def _action_truth(case: Case) -> Parts:
    bar = case.result.first_row + case.row("date")
    for fill in case.result.fills:
        if fill.bar == bar:
            return Label(fill.side), Count(fill.size)
    return Label("nothing"), Count(None)


def _adapted(part: Part) -> Part:
    if isinstance(part, Params):
        renamed = (("pslow" if name == "window" else name, value) for name, value in part.value)
        return Params(tuple(sorted(renamed)))
    return Number(part.value, 2) if isinstance(part, Number) else part


def false_statements(template: str, stem: str, case: Case) -> list[str]:
    """Numbers that a stem gives away about its backtest and that aren't so."""
    if template not in STATED:
        return []
    pattern, truth = STATED[template]
    found = re.search(pattern, stem)
    said = found.groups() if found else ()
    expected = truth(case)
    return [] if said == expected else [f"the stem says {' and '.join(said) or 'nothing'}, not {expected}"]


def _close_day(case: Case) -> tuple[str, ...]:
    trades, n = case.result.trades, case.number("n")
    return (case.tape.dates[trades[n - 1].close_bar],) if n <= len(trades) else ("no such trade",)


def _fill_day(case: Case) -> tuple[str, ...]:
    fills, n = case.result.fills, case.number("n")
    return (case.tape.dates[fills[n - 1].bar],) if n <= len(fills) else ("no such order",)


STATED: dict[str, tuple[str, Callable[[Case], tuple[str, ...]]]] = {
    "max_shares": (r"\$([0-9.]+)\?", lambda case: (f"{case.spec.initial_cash:.2f}",)),
    "commission": (r"([0-9.]+)%", lambda case: (f"{case.spec.commission_rate * 100:.2f}",)),
    "nth_trade_pnl": (f"({DATE.pattern})", _close_day),
    "cash_after_nth_order": (f"({DATE.pattern})", _fill_day),
    "win_rate": (r"all ([0-9]+) closed", lambda case: (str(len(case.result.trades)),)),
    "annualized_return": (r"([0-9]+) trading", lambda case: (str(case.result.rows),)),
    "avg_holding_period": (
        r"\(([0-9]+) .* ([0-9]+) closed",
        lambda case: (str(held_rows(case.result)), str(len(case.result.trades))),
    ),
}
