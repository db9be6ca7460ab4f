"""Where two answers differ."""

import json
from typing import Any

VALUE_WIDTH = 60


def first_difference(got: list[dict[str, Any]], want: list[dict[str, Any]]) -> str | None:
    """The first row and column in which rows of JSON values differ, if they do.

    Values are compared as JSON text: 1 is not 1.0, -0.0 is not 0.0, and keys have an order.
    """
    if _text(got) == _text(want):
        return None
    if len(got) != len(want):
        return f"{len(want)} rows expected, got {len(got)}"
    row = next(i for i in range(len(want)) if _text(got[i]) != _text(want[i]))
    if list(got[row]) != list(want[row]):
        return f"columns {list(want[row])} expected, got {list(got[row])}"
    name = next(name for name in want[row] if _text(got[row][name]) != _text(want[row][name]))
    return f"row {row}, {name}: {_path(got[row][name], want[row][name])}"


def _path(got: Any, want: Any) -> str:
    """Where inside a value the difference is, and the two sides there."""
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        at = next(i for i in range(len(want)) if _text(got[i]) != _text(want[i]))
        return f"[{at}]{_path(got[at], want[at])}"
    if isinstance(got, dict) and isinstance(want, dict) and list(got) == list(want):
        at = next(name for name in want if _text(got[name]) != _text(want[name]))
        return f".{at}{_path(got[at], want[at])}"
    return f" {_text(want)[:VALUE_WIDTH]} expected, got {_text(got)[:VALUE_WIDTH]}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
