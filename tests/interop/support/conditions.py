"""Random filters over indexed columns, as trees: when one fails, its parts can be asked alone."""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow.types as pat

from .indexed_columns import Column

COMPARISONS = ("=", "=", "!=", "<", "<=", ">", ">=")
TRUTHS = ("TRUE", "NOT TRUE", "FALSE", "NOT FALSE", "NULL", "NOT NULL")


@dataclass(frozen=True)
class Condition:
    """A filter, and the smaller ones that it is made of."""

    text: str
    parts: tuple["Condition", ...] = ()

    def smaller(self) -> Iterator["Condition"]:
        """Everything inside, the smallest first, and the condition itself at the end."""
        for part in self.parts:
            yield from part.smaller()
        yield self


def random_condition(
    columns: Sequence[Column], depth: int, r: random.Random, parts_only: bool = False
) -> Condition:
    """A condition of at most so many levels above its leaves.

    With `parts_only` texts are mostly asked for what they contain, which is all that an NGRAM index
    knows.
    """
    if depth == 0 or r.random() < 0.1:
        column = r.choice(columns)
        if parts_only and column.kind.is_text and r.random() < 0.85:
            return Condition(_part_leaf(column, r))
        return Condition(_leaf(column, r))
    count = r.choice([2, 2, 2, 3])
    form = r.choice([" AND ", " AND ", " OR ", " OR ", "NOT", "IS"])
    if form in ("NOT", "IS"):
        part = random_condition(columns, depth - 1, r, parts_only)
        text = f"NOT ({part.text})" if form == "NOT" else f"({part.text}) IS {r.choice(TRUTHS)}"
        return Condition(text, (part,))
    parts = tuple(random_condition(columns, depth - 1, r, parts_only) for _ in range(count))
    return Condition(form.join(f"({part.text})" for part in parts), parts)


def _leaf(column: Column, r: random.Random) -> str:
    """A condition on one column."""
    path, kind = column.path, column.kind
    if r.random() < 0.12:
        return f"{path} IS {r.choice(['', 'NOT '])}NULL"
    if kind.is_list:
        return _list_leaf(column, r)
    if pat.is_boolean(kind.type) and r.random() < 0.6:
        truth = r.choice(TRUTHS)
        return r.choice([path, f"NOT {path}", f"{path} IS {truth}", f"NOT ({path} IS {truth})"])
    if kind.is_text and r.random() < 0.6:
        return _text_leaf(column, r)
    negated = r.choice(["", "", "NOT "])
    match r.randrange(8):
        case 0 | 1 | 2:
            return f"{path} {r.choice(COMPARISONS)} {_literal(column, r)}"
        case 3:
            return f"{_literal(column, r)} {r.choice(COMPARISONS)} {path}"
        case 4:
            return f"{path} {negated}BETWEEN {_literal(column, r)} AND {_literal(column, r)}"
        case 5:
            below, above = r.choice(["<", "<="]), r.choice([">", ">="])
            low, high = _literal(column, r), _literal(column, r)
            return f"{path} {above} {low} AND {path} {below} {high}"
        case _:
            items = [_literal(column, r) for _ in range(r.randrange(1, 7))]
            items += ["NULL"] if r.random() < 0.1 else []
            return f"{path} {negated}IN ({', '.join(items)})"


def _literal(column: Column, r: random.Random) -> str:
    """A value that the column has, or could have."""
    kind = column.kind
    if r.random() < 0.03:
        return "NULL"
    if kind.has_finer_literals and r.random() < 0.2:
        return kind.finer_literal(r.choice(column.values))
    return kind.literal(kind.draw(r) if r.random() < 0.3 else r.choice(column.values))


def _text_leaf(column: Column, r: random.Random) -> str:
    """A condition that only a text can have."""
    path, kind = column.path, column.kind
    text = r.choice(column.values) if r.random() < 0.7 else kind.draw(r)
    start = r.randrange(len(text) + 1)
    part = text[start : start + r.randrange(1, r.choice([9, 25]))]
    if r.random() < 0.1:
        part = r.choice([part.upper(), part.lower(), part[::-1]])
    head = text[: r.randrange(len(text) + 1)]
    function = r.choice(["contains"] * 3 + ["starts_with", "ends_with", "LIKE", "length"])
    match function:
        case "contains":
            return f"contains({path}, {kind.literal(part)})"
        case "starts_with":
            return f"starts_with({path}, {kind.literal(head)})"
        case "ends_with":
            return f"ends_with({path}, {kind.literal(text[start:])})"
        case "length":
            return f"length({path}) {r.choice(COMPARISONS)} {len(text)}"
    pattern = r.choice(
        [
            _escaped(head) + "%",
            _escaped(head) + "_%",
            _escaped(head) + "%" + _escaped(text[len(head) + 1 :]),
            "%" + _escaped(part) + "%",
            "%" + _escaped(part) + "%" + _escaped(text[start + len(part) + 1 :]) + "%",
            "%" + _escaped(text[start:]),
            _escaped(text),
            head + "%",
            "_" + _escaped(text[1:]),
            "%",
        ]
    )
    if pattern.endswith("\\") and not pattern.endswith("\\\\"):
        pattern += "\\"
    return f"{path} {r.choice(['', '', 'NOT '])}LIKE {kind.literal(pattern)}"


def _part_leaf(column: Column, r: random.Random) -> str:
    """A condition on what a text contains."""
    part = _needle(r.choice(column.values), r)
    if r.random() < 0.5:
        return f"contains({column.path}, {column.kind.literal(part)})"
    pattern = _escaped(part)
    if r.random() < 0.3:
        cut = r.randrange(len(part) + 1)
        pattern = _escaped(part[:cut]) + r.choice(["%", "_"]) + _escaped(part[cut + 1 :])
    ends = r.choice(["%{}%"] * 6 + ["%{}", "{}%"])
    literal = column.kind.literal(ends.format(pattern))
    return f"{column.path} {r.choice(['', '', '', '', 'NOT '])}LIKE {literal}"


def _needle(text: str, r: random.Random) -> str:
    """A part of a text, or nearly: most often with three letters in a row."""
    words = re.findall(r"[A-Za-z0-9]{3,}", text)
    form = r.choice(["word"] * 6 + ["part", "part", "short", "around", "case", "absent"])
    if form in ("word", "case", "absent") and words:
        word = r.choice(words)
        start = r.randrange(len(word) - 2)
        part = word[start : start + r.randrange(3, 12)]
        if form == "case":
            return r.choice([part.upper(), part.lower(), part.swapcase()])
        return part if form == "word" else r.choice([part + "zq", part[::-1], part[:2] + "é"])
    if form == "short":
        start = r.randrange(max(len(text), 1))
        return text[start : start + r.randrange(3)]
    start = r.randrange(max(len(text) - 3, 1))
    return text[start : start + r.choice([3, 4, 6, 10, 30])]


def _escaped(text: str) -> str:
    for char in "\\%_":
        text = text.replace(char, "\\" + char)
    return text


def _list_leaf(column: Column, r: random.Random) -> str:
    """A condition on the items of a list."""
    kind, path = column.kind, column.path
    known = [item for value in column.values for item in value if item is not None]

    def item() -> Any:
        drawn = [x for x in kind.draw(r) if x is not None] + known
        return kind.literal(r.choice(drawn or [None]))

    items = [text for text in (item() for _ in range(r.randrange(1, 4))) if text != "NULL"]
    if not items:
        return f"{path} IS NULL"
    if r.random() < 0.4:
        return f"{r.choice(['array_has', 'array_contains'])}({path}, {items[0]})"
    return f"{r.choice(['array_has_any', 'array_has_all'])}({path}, [{', '.join(items)}])"
