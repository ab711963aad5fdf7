"""Operators of users: an expression says how an arc extends a path.

``distance`` is the value of a path, 0 at the source, and ``weight`` that of the next arc; less is
better. One text gives the functions of Python and of CUDA, so it has only what both compute alike:
numbers, ``+ - *``, ``min``, ``max``, ``abs``, a choice by one comparison (``a if b < c else d``),
and division by a positive number, which is ``//`` or ``%`` for integers, and ``/`` for floats.

Integers have 64 bits, and floats are float64. Spans of values (interval arithmetic) prove up to
which distance nothing overflows; a path that goes on from beyond it is an error.
"""

from __future__ import annotations

import ast
import math
import operator
import random
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from groute_py.errors import GraphError, InputError, quote, quoted
from groute_py.graph.scale import LARGEST, Scale

LONGEST = 200
"""Characters of an expression."""

INTEGERS, FLOATS = 2**62, 2**sys.float_info.max_exp
"""Bounds of whatever is computed, of integers and of floats."""

WEIGHTS, DISTANCES, MEAN_OF = 32, 256, 1024
"""Weights of the graph, and drawn distances, for which an expression is tried out; and weights for
the mean of paths of one arc."""

STEPS = 64
"""Arcs after which a path that still gets worse may have any distance."""

BINARY: Mapping[type, tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("({} + {})", operator.add),
    ast.Sub: ("({} - {})", operator.sub),
    ast.Mult: ("({} * {})", operator.mul),
    ast.Div: ("({} / {})", operator.truediv),
    ast.FloorDiv: ("({} // {})", operator.floordiv),
    ast.Mod: ("({} % {})", operator.mod),
}
COMPARISONS: Mapping[type, str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
IN_CUDA: Mapping[bool, Mapping[Any, str]] = {
    False: {ast.FloorDiv: "quotient({}, {})", ast.Mod: "residue({}, {})", "abs": "magnitude"},
    True: {ast.Mult: "__dmul_rn({}, {})", "abs": "magnitude"},
}
"""Other forms there, of integers and of floats, whose products must not be fused with a sum."""

Span = tuple[Any, Any]
"""The least and the greatest value."""


@dataclass(frozen=True)
class Operator(Scale):
    """An expression, for the weights of one graph; distances are values themselves."""

    text: str
    most: float  # the greatest distance that it extends, of Python's type for the weights
    mean: float  # value of a path of one arc
    python: str  # the function ``extend``
    cuda: str  # the macro EXTENDED of `kernels/primitives/algebra.cuh`

    @property
    def type(self) -> np.dtype[Any]:  # type: ignore[override]
        return np.dtype(type(self.most))

    @property
    def operator(self) -> Operator:
        return self

    def values_of(self, distances: NDArray[Any]) -> NDArray[Any]:
        return distances

    def bound(self, cutoff: float) -> float:
        if self.most < cutoff < math.inf:
            raise InputError(
                f"cutoff {cutoff}: with these weights, the values of {quote(self.text)} are exact "
                f"up to {self.most}; leave the cutoff out"
            )
        return cutoff


class _ForeignError(Exception):
    """A part of an expression that none may have."""


def parsed(text: str) -> ast.expr:
    """Return an expression in ``distance`` and ``weight``.

    Raises:
        InputError: it is none, or has a part that is not allowed.

    >>> parsed("distance + open('x')")
    Traceback (most recent call last):
    groute_py.errors.InputError: objective "distance + open('x')": "open('x')" is not allowed; ...
    """
    what = f"objective {quote(text)}"
    if len(text) > LONGEST:
        raise InputError(f"{what}: an expression has at most {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        _span(tree, {"distance": (0, 1), "weight": (0, 1)}, FLOATS)
    except (SyntaxError, ValueError, MemoryError) as problem:
        raise InputError(f"{what}: neither a name nor an expression ({problem})") from None
    except OverflowError:
        raise InputError(f"{what}: its numbers are too great") from None
    except _ForeignError as foreign:
        part = ast.get_source_segment(text.strip(), foreign.args[0])
        raise InputError(
            f"{what}: {quote(part)} is not allowed; an expression has distance, weight, numbers, "
            "+ - *, min, max, abs, / // % by a positive number, and a if b < c else d"
        ) from None
    return tree


def operator_for(text: str, weights: NDArray[Any], name: str) -> Operator:
    """Return the operator of an expression for the weights, none negative, of a named graph.

    Raises:
        InputError: it does not suit their type, or samples show that an arc makes a path better, or
            the better of two paths the worse one.
        GraphError: it overflows with these weights.

    >>> operator_for("max(distance, weight)", np.array([3, 5]), "g").most == 2**61
    True
    >>> operator_for("distance - weight", np.array([3, 5]), "g")
    Traceback (most recent call last):
    groute_py.errors.InputError: objective 'distance - weight': an arc of weight 3 turns ...
    """
    is_float = weights.dtype.kind == "f"
    tree, kind, limit = parsed(text), float if is_float else int, FLOATS if is_float else INTEGERS
    _suit(tree, text, is_float=is_float)
    least, greatest = map(kind, (weights.min(), weights.max()) if len(weights) else (0, 0))

    def worst(distance: Any) -> Any:
        spans = {"distance": (kind(0), distance), "weight": (least, greatest)}
        return _span(tree, spans, limit)[1]

    bits = range(limit.bit_length() - 2, -1, -1)
    most = next((far for far in (kind(2**b) for b in bits) if _fits(worst, far)), None)
    if most is None:
        raise GraphError(
            f"objective {quote(text)} overflows with the weights of {quoted(name)}, which go up to "
            f"{greatest}; scale them down"
        )
    drawn, ends = random.Random(0), [least, greatest]
    places = (drawn.randrange(len(weights)) for _ in range(MEAN_OF if len(weights) else 0))
    some = [kind(weights[place]) for place in places] or ends
    extend = eval(f"lambda distance, weight: {_python(tree)}")  # of allowed parts only
    far, few = min(max(_farthest(worst, most), greatest), most), sorted({*ends, *some[:WEIGHTS]})
    _try_out(text, extend, few, _samples(extend, few, far, drawn))
    mean = fmean(extend(kind(0), weight) for weight in some)
    return Operator(text, most, mean, *_functions(tree, most))


def _fits(worst: Callable[[Any], Any], distance: Any) -> bool:
    """Return True if nothing overflows up to a distance."""
    try:
        worst(distance)
    except OverflowError:
        return False
    return True


def _farthest(worst: Callable[[Any], Any], most: Any) -> Any:
    """Return a bound of all values of paths, at most the greatest that is extended."""
    far = most * 0
    for _ in range(STEPS):
        before, far = far, max(far, worst(far))
        if far == before or far > most:
            return min(far, most)
    return most


def _samples(
    extend: Callable[[Any, Any], Any], weights: list[Any], far: Any, drawn: random.Random
) -> list[Any]:
    """Return ascending distances up to a bound: small and great ones, and those of some paths."""
    kind, distance = type(far), far * 0
    some = {distance, far, *map(kind, range(DISTANCES)), *weights}
    for _ in range(DISTANCES):
        distance = extend(distance, drawn.choice(weights))
        distance = distance if 0 <= distance <= far else kind(0)
        some |= {distance, kind(far * drawn.random()), kind(2 ** (drawn.random() * 62))}
    if kind is float:
        some |= {far * drawn.random() * 2.0 ** -drawn.randrange(64) for _ in range(DISTANCES)}
        some |= {math.nextafter(each, math.inf) for each in some}
    else:
        some |= {2**bit + step for bit in range(62) for step in (-1, 0, 1)}
    return sorted(each for each in some if 0 <= each <= far)


def _try_out(
    text: str, extend: Callable[[Any, Any], Any], weights: list[Any], distances: list[Any]
) -> None:
    """Raise `InputError` with two paths, or one, for which an expression is no operator."""
    for weight in weights:
        values = [extend(distance, weight) for distance in distances]
        for distance, value in zip(distances, values, strict=True):
            if value < distance:
                raise InputError(
                    f"objective {quote(text)}: an arc of weight {weight} turns {distance} into "
                    f"{value}, and no arc may make a path better"
                )
        for (near, far), (first, last) in zip(pairwise(distances), pairwise(values), strict=True):
            if last < first:
                raise InputError(
                    f"objective {quote(text)}: an arc of weight {weight} turns {near} into {first} "
                    f"and {far} into {last}, and the better of two paths has to stay the better one"
                )


def _suit(tree: ast.expr, text: str, *, is_float: bool) -> None:
    """Refuse what the type of the weights does not have; make numbers of the same type."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FloorDiv | ast.Mod) and is_float:
            raise InputError(f"objective {quote(text)}: // and % are for integer weights; use /")
        is_fraction = isinstance(node, ast.Constant) and isinstance(node.value, float)
        if (is_fraction or isinstance(node, ast.Div)) and not is_float:
            raise InputError(
                f"objective {quote(text)}: / and fractions are for float weights; use //, or "
                "convert the weights"
            )
        if isinstance(node, ast.Constant) and is_float:
            node.value = float(node.value)  # type: ignore[arg-type]


def _span(node: ast.expr, spans: Mapping[str, Span], limit: int) -> Span:
    """Return bounds of an expression between those of its names.

    Raises:
        OverflowError: it may not be below the limit.
        _ForeignError: a part of it is not allowed.
    """
    low, high = _ends(node, spans, limit)
    if not (-limit < low and high < limit):  # as of NaN
        raise OverflowError
    return low, high


def _ends(node: ast.expr, spans: Mapping[str, Span], limit: int) -> Span:
    def span(part: ast.expr) -> Span:
        return _span(part, spans, limit)

    match node:
        case ast.Constant(value) if type(value) in (int, float):
            return value, value
        case ast.Name(name) if name in spans:
            return spans[name]
        case ast.UnaryOp(ast.USub(), operand):
            low, high = span(operand)
            return -high, -low
        case ast.BinOp(left, ast.Add() | ast.Sub() | ast.Mult() as sign, right):
            compute, ends = BINARY[type(sign)][1], span(right)
            corners = [compute(a, b) for a in span(left) for b in ends]
            return min(corners), max(corners)
        case ast.BinOp(left, sign, ast.Constant() as right) if type(sign) in BINARY:
            (low, high), (by, _), compute = span(left), span(right), BINARY[type(sign)][1]
            if by > 0:
                ends = compute(low, by), compute(high, by)
                return (0, by - 1) if isinstance(sign, ast.Mod) else ends
        case ast.Call(ast.Name("min" | "max" as name), [_, _, *_] as parts, []):
            lows, highs = zip(*map(span, parts), strict=True)
            choose = min if name == "min" else max
            return choose(lows), choose(highs)
        case ast.Call(ast.Name("abs"), [part], []):
            low, high = span(part)
            return max(low, -high, 0), max(-low, high)
        case ast.IfExp(ast.Compare(left, [sign], [right]), body, other) if (
            type(sign) in COMPARISONS
        ):
            both, *_ = (span(body), span(other)), span(left), span(right)
            return min(low for low, _ in both), max(high for _, high in both)
    raise _ForeignError(node)


def _functions(tree: ast.expr, most: float) -> tuple[str, str]:
    """Write the function ``extend`` of kernels in Python, and its expression in CUDA.

    Both return the greatest number, which is no distance, where an arc extends too great a distance
    or makes one less. The sum with 0.0 has no sign where it is 0.
    """
    is_float = isinstance(most, float)
    nothing, no_sign = ("1e999", " + 0.0") if is_float else (str(LARGEST), "")
    python = (
        "def extend(distance, weight):\n"
        f"    value = {_python(tree)}{no_sign} if distance <= {most!r} else {nothing}\n"
        f"    return value if value >= distance else {nothing}\n"
    )
    return python, f"distance <= {most!r} ? {_cuda(tree, is_float=is_float)}{no_sign} : UNREACHED"


def _python(node: ast.expr) -> str:
    return _written(node, {}, "({1} if {0} else {2})", "{}")


def _cuda(node: ast.expr, *, is_float: bool) -> str:
    return _written(node, IN_CUDA[is_float], "({0} ? {1} : {2})", "Distance({})")


def _written(node: ast.expr, forms: Mapping[Any, str], choice: str, number: str) -> str:
    """Write an expression, whose parts have been checked, in a language with these forms."""

    def written(part: ast.expr) -> str:
        return _written(part, forms, choice, number)

    match node:
        case ast.Name(name):
            return name
        case ast.Constant(value):
            return number.format(repr(value))
        case ast.UnaryOp(_, operand):
            return f"(-{written(operand)})"
        case ast.BinOp(left, sign, right):
            form = forms.get(type(sign), BINARY[type(sign)][0])
            return form.format(written(left), written(right))
        case ast.Call(ast.Name(name), [*others, last], _):
            return reduce(
                lambda rest, part: f"{name}({written(part)}, {rest})",
                reversed(others),
                written(last) if others else f"{forms.get(name, name)}({written(last)})",
            )
        case ast.IfExp(ast.Compare(left, [sign], [right]), body, other):
            test = f"{written(left)} {COMPARISONS[type(sign)]} {written(right)}"
            return choice.format(test, written(body), written(other))
    raise AssertionError(node)
