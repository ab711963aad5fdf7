"""Atomic operations on elements of arrays, for kernels that several threads run on shared arrays.

`load` is relaxed: it gives atomicity, and one order of the changes of each element, but none
between elements. `load_acquire`, and a `replace` that succeeds, see all that a thread has written
before the `add`, `replace` or `store_release` whose value they read (the memory model of C++
and LLVM). Indices are not checked, and not counted from the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from groute_py.kernels.cpu.kernel import Instruction


def _on_element(operate: Callable[..., Any], *, result: str = "none") -> Any:
    """Make an instruction of an array, an index and values, which are converted to its type.

    ``operate`` gets LLVM's builder, a pointer and the values, all as integers of the element's
    size. The result is the ``element``, a ``boolean`` or ``none``.
    """

    def resolve(kind: Any, index: Any, values: Any) -> Any:
        from llvmlite import ir
        from numba.core import cgutils, types
        from numba.np.arrayobj import make_array

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            place = context.cast(builder, given[1], signature.args[1], types.intp)
            array = make_array(kind)(context, builder, given[0])
            pointer = cgutils.get_item_pointer(context, builder, kind, array, [place])
            integer = ir.IntType(kind.dtype.bitwidth)
            numbers = [
                builder.bitcast(context.cast(builder, value, of, kind.dtype), integer)
                for value, of in zip(given[2:], signature.args[2:], strict=True)
            ]
            done = operate(builder, builder.bitcast(pointer, integer.as_pointer()), *numbers)
            if result == "element":
                return builder.bitcast(done, context.get_value_type(kind.dtype))
            return context.get_dummy_value() if result == "none" else done

        gives = kind.dtype if result == "element" else getattr(types, result)
        return gives(kind, index, *values), generate

    takes = operate.__code__.co_argcount - 2
    forms = (
        lambda typing, array, index: resolve(array, index, ()),
        lambda typing, array, index, value: resolve(array, index, (value,)),
        lambda typing, array, index, old, new: resolve(array, index, (old, new)),
    )
    instruction: Any = Instruction(forms[takes])
    return instruction


def _prefetch(builder: Any, pointer: Any) -> None:
    from llvmlite import ir

    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kinds = ir.FunctionType(ir.VoidType(), (byte, number, number, number))
    function = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kinds)
    of_data_to_keep = [number(value) for value in (0, 3, 1)]
    builder.call(function, (builder.bitcast(pointer, byte), *of_data_to_keep))


def _size(pointer: Any) -> int:
    return int(pointer.type.pointee.width) // 8


load = _on_element(lambda b, at: b.load_atomic(at, "monotonic", _size(at)), result="element")
"""``load(array, index)``: the element."""

load_acquire = _on_element(lambda b, at: b.load_atomic(at, "acquire", _size(at)), result="element")

store_release = _on_element(lambda b, at, new: b.store_atomic(new, at, "release", _size(at)))
"""``store_release(array, index, value)``."""

add = _on_element(lambda b, at, new: b.atomic_rmw("add", at, new, "acq_rel"), result="element")
"""``add(array, index, value)``: the element before; both orders."""

replace = _on_element(
    lambda b, at, old, new: b.extract_value(b.cmpxchg(at, old, new, "acq_rel", "monotonic"), 1),
    result="boolean",
)
"""``replace(array, index, old, new)``: True if the element was ``old``, and is ``new``."""

prefetch = _on_element(_prefetch)
"""``prefetch(array, index)``: begin to load the element's line."""


def _give_way(typing: Any) -> Any:
    from llvmlite import ir
    from numba.core import cgutils, types

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), ())
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), ())
        return context.get_dummy_value()

    return types.none(), generate


give_way: Any = Instruction(_give_way)
"""``give_way()``: let another thread have this core, where one waits."""
