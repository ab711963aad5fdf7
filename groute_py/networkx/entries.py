"""The functions of the backend by NetworkX's names, called with NetworkX's arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

import networkx as nx

BY_NAME: dict[str, Callable[..., Any]] = {}

Function = TypeVar("Function", bound=Callable[..., Any])


def entry(function: Function) -> Function:
    """Register a function by its name; it takes those of NetworkX's parameters that it needs."""
    _register(function.__name__, function)
    return function


def entries(names: str, *methods: str) -> Callable[[Function], Function]:
    """Register a function for several methods, whose words take the place of ``{}`` in names."""

    def register(function: Function) -> Function:
        for method in methods:
            _register(names.format(method), function, method=method)
        return function

    return register


def _register(name: str, function: Callable[..., Any], **more: str) -> None:
    signature = inspect.signature(getattr(nx, name).orig_func)
    unused = signature.parameters.keys() - inspect.signature(function).parameters.keys()

    def call(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {key: bound.arguments[key] for key in bound.arguments if key not in unused}
        return function(**arguments | more)

    call.__name__, call.__doc__ = name, function.__doc__
    vars(call)["__signature__"] = signature  # for the documents
    BY_NAME[name] = call
