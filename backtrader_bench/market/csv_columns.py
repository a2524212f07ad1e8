"""What the columns of a price file are called, and which one holds what.

Names are compared squeezed: lower case without accents, spaces, dots, underscores, hyphens and units, so that
``Adj. Close**``, ``adj_close`` and ``adjClose`` are one name.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PRICES = ("open", "high", "low", "close")
REQUIRED = ("date", *PRICES, "volume")
# Per role, the names it goes by, best first: a file with Close and Last means Close.
NAMES = {
    "date": "date tradedate tradingdate tradingday pricedate datetime dateandtime date/time localtime "
    "gmttime "
    "timestamp time day dt dtyyyymmdd tsevent exchangedate opentime windowstart unix datum fecha data дата t",
    "open": "open openprice openingprice opening pxopen eroffnung eroffnungskurs eroffn erster anfang "
    "apertura "
    "ouverture ouv abertura otwarcie primo откр o",
    "high": "high highprice dayhigh pxhigh highest max maximum hoch tageshoch hochst hochstkurs alto "
    "maximo maxima "
    "massimo haut plushaut najwyzszy макс h",
    "low": "low lowprice daylow pxlow lowest min minimum tief tagestief tiefst tiefstkurs bajo minimo "
    "minima bas "
    "plusbas najnizszy мин l",
    "close": "close closeprice closingprice closing close/last closelast last lastprice price pxlast schluss "
    "schlusskurs zuletzt letzter cierre ultimo cloture dernier chiusura fechamento zamkniecie цена c "
    "closeclosepriceadjustedforsplits",
    "volume": "volume vol volumes totalvolume sharevolume volumetraded tradedvolume sharestraded shares "
    "pxvolume "
    "tottrdqty totaltradedquantity noofshares quantity qty stuecke stucke stuck volumen wolumen объем v",
    "adj": "adjclose adjustedclose adjcloseprice adjustedcloseprice adjusted closeadj closeadjusted "
    "adjcloseadjustedclosepriceadjustedforsplitsanddividendandorcapitalgaindistributions",
    "symbol": "ticker symbol symbols sym tickersymbol instrument security secid stock stockcode code "
    "isin name asset "
    "contract wkn actsymbol",
    "interval": "per period interval timeframe resolution",
    "currency": "currency ccy cur",
    "clock": "time tradetime",
    "year": "year",
    "month": "month",
}
_ROLES = {role: names.split() for role, names in NAMES.items()}
_ROLE_OF = {name: role for role, names in reversed(_ROLES.items()) for name in names}
_UNIT = re.compile(r"\s*[(\[]\s*(?!ADJ)(?:[A-Z]{3,4}|[$€£¥₹]|[Ss]hares|[Uu]nits|[Pp]ieces|Stück)\s*[)\]]")
_QUOTES = frozenset(["usd", "usdt", "usdc", "busd", "tusd", "fdusd", "eur", "gbp", "jpy", "try", "brl", "aud", "krw"])
_FIELD = r"(open|high|low|close|volume|adj(?:usted)?(?:[. _]?close)?)"
_AFTER_SYMBOL = re.compile(rf"(.+?)[._ :-]{_FIELD}", re.I)
_BEFORE_SYMBOL = re.compile(rf"{_FIELD}[._ :-](.+)", re.I)
# What may stand before Open and Close without being a symbol: such prices are not the prices as traded.
_NO_SYMBOL = re.compile(r"(un|split)?[ ._-]?adj(usted)?\.?|u|bid|ask|mid|prev(ious)?|pre|after|next", re.I)
_TUPLE = re.compile(r"\(\s*['\"](.*?)['\"]\s*,\s*['\"](.*?)['\"]\s*\)")


class HeaderProblem(Exception):
    """The header does not say which column is which; the message says why."""


def squeeze(name: str) -> str:
    """``name`` reduced to what two spellings of it have in common."""
    # No name is longer, and the search for units would take the square of the length.
    name = re.sub(r"^\d+[a-z]?\.\s+", "", _UNIT.sub("", name.strip()[:200]))
    decomposed = unicodedata.normalize("NFKD", name.casefold())
    return re.sub(r"[\s._<>*\"'\u200b-]|[^\x00-\x7f\u0400-\u04ff]", "", decomposed)


def count_roles(cells: Sequence[str]) -> int:
    """How many different columns of a price file ``cells`` names."""
    return len({_ROLE_OF[name] for cell in strip_symbol(cells)[0] if (name := squeeze(cell)) in _ROLE_OF})


def is_date_name(cell: str) -> bool:
    """Whether ``cell`` is a name of the date column."""
    return squeeze(cell) in _ROLES["date"]


def is_symbol_name(cell: str) -> bool:
    """Whether ``cell`` is a name of the ticker column."""
    return squeeze(cell) in _ROLES["symbol"]


def assign(cells: Sequence[str]) -> dict[str, int]:
    """Role -> index of its column. HeaderProblem: a name twice, a column missing."""
    names = [squeeze(cell) for cell in cells]
    roles = {}
    for role, known in _ROLES.items():
        at = _only(cells, names, known)
        if at is not None:
            roles[role] = at
    _date_without_name(roles, names)
    _volume_in_units(roles, cells)
    if roles.get("clock") == roles.get("date"):
        roles.pop("clock", None)
    if not _is_split_date(roles, names):
        roles.pop("year", None)
        roles.pop("month", None)
    _refuse_gaps(roles, cells)
    return roles


def _only(cells: Sequence[str], names: Sequence[str], known: Sequence[str]) -> int | None:
    for name in known:
        # pandas renames the second of two equal names to "Close.1", which squeezes to close1.
        found = [i for i, n in enumerate(names) if n == name]
        if len(found) > 1 or (found and any(re.fullmatch(rf"{re.escape(name)}\d", n) for n in names)):
            raise HeaderProblem(f"two columns are named {cells[found[0]]}; remove or rename one")
        if found:
            return found[0]
    return None


def _date_without_name(roles: dict[str, int], names: Sequence[str]) -> None:
    if "date" not in roles and names and names[0] in ("", "index", "unnamed:0", "rownames", "x"):
        roles["date"] = 0


def _is_split_date(roles: dict[str, int], names: Sequence[str]) -> bool:
    """Whether year, month and day have a column each, and the date none."""
    return {"date", "year", "month"} <= roles.keys() and names[roles["date"]] == "day"


def _volume_in_units(roles: dict[str, int], cells: Sequence[str]) -> None:
    """``Volume BTC`` beside ``Volume USDT``: the one in coins is the volume, the other is turnover."""
    if "volume" in roles:
        return
    found = {i: m[1].casefold() for i, cell in enumerate(cells) if (m := re.fullmatch(r"[Vv]olume[ _](\w+)", cell))}
    coins = [i for i, unit in found.items() if unit not in _QUOTES]
    if len(coins) == 1:
        roles["volume"] = coins[0]
    elif len(found) > 1:
        raise HeaderProblem(f"several volume columns ({', '.join(cells[i] for i in found)}); name one of them Volume")


def _refuse_gaps(roles: dict[str, int], cells: Sequence[str]) -> None:
    missing = [role.capitalize() for role in REQUIRED if role not in roles]
    if not missing:
        return
    shown = ", ".join(cell or "(no name)" for cell in cells)[:120]
    if missing == ["Close"] and "adj" in roles:
        raise HeaderProblem(f"only an adjusted close, no Close column (columns: {shown}); add the close as traded")
    if any(re.match(r"adj\w*(open|high|low)", squeeze(cell)) for cell in cells):
        raise HeaderProblem(
            f"no column {', '.join(missing)}: only adjusted prices (columns: {shown}); add the prices as traded"
        )
    plural = "s" if len(missing) > 1 else ""
    if missing == ["Volume"]:
        raise HeaderProblem(f"no column Volume (columns: {shown}); add one, with 0 where the volume is unknown")
    raise HeaderProblem(f"no column{plural} {', '.join(missing)} (columns: {shown}); add or rename the column{plural}")


def strip_symbol(cells: Sequence[str]) -> tuple[list[str], str | None]:
    """``AAPL.Open, AAPL.High, ...`` without the symbol, and the symbol; other headers as they are, and None.

    HeaderProblem when the names carry several symbols.
    """
    cells = [cell[:200] for cell in cells]
    pairs = [_TUPLE.fullmatch(cell) for cell in cells]
    if sum(pair is not None for pair in pairs) >= 4:
        return _of_one_symbol(cells, [(m[1], m[2]) if m else None for m in pairs])
    if {"open", "high", "low"} <= {_ROLE_OF.get(squeeze(cell)) for cell in cells}:
        return list(cells), None
    for pattern, field, symbol in ((_AFTER_SYMBOL, 2, 1), (_BEFORE_SYMBOL, 1, 2)):
        matches = [m if m and not _NO_SYMBOL.fullmatch(m[symbol]) else None for m in map(pattern.fullmatch, cells)]
        named = [m[field].casefold() for m in matches if m]
        if {"open", "high", "low", "close"} <= set(named):
            return _of_one_symbol(cells, [(m[field], m[symbol]) if m else None for m in matches])
    return list(cells), None


def _of_one_symbol(cells: Sequence[str], pairs: Sequence[tuple[str, str] | None]) -> tuple[list[str], str | None]:
    names, symbols = [], []
    for cell, pair in zip(cells, pairs, strict=True):
        names.append(pair[0] if pair else cell)
        if pair and pair[1] and pair[1] not in symbols:
            symbols.append(pair[1])
    return names, " and ".join(symbols) or None
