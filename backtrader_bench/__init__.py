"""Multiple-choice questions from real backtrader backtests, with keys that two engines confirm."""

from pathlib import Path

__version__ = "0.1.0"

# A checkout keeps some packages at its root (agents/, checker/, ...). Installed, wheel or editable, they are
# mapped into this one by the build; in an uninstalled checkout this line is what makes them importable.
_checkout = Path(__file__).resolve().parent.parent
if (_checkout / "pyproject.toml").is_file():
    __path__.append(str(_checkout))
