"""Calls compiled code through a linker symbol or an address instead of linking it into each caller.

Numba copies a callee's code into every caller and optimises it again. The symbol is the module's content-hash name, so
a cached caller cannot call another version of its callee.

Functions that users call from their own njit code are called by address. Numba would cache the user's code under its
file alone, and the cached code would silently stay in use after a change of the formula. Numba caches no code that
contains an address.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def linked(module: str) -> Callable[[Any], Any]:
    """Return a decorator that replaces a compiled njit function of one signature by a call of its symbol.

    The njit function itself stays at `.dispatcher`; Python cannot call it.
    """

    def decorate(dispatcher: Any) -> Any:
        import llvmlite.binding as llvm

        symbol = f"{module}.{dispatcher.__name__}"
        llvm.add_symbol(symbol, address_of(dispatcher))
        stub = calling_symbol(symbol, _signature(dispatcher))
        stub.dispatcher = dispatcher
        return stub

    return decorate


def calling_symbol(symbol: str, signature: Any) -> Any:
    """Return an njit function that calls the code which LLVM finds under a symbol."""
    from numba.core import cgutils

    def function(context: Any, builder: Any, kind: Any) -> Any:
        return cgutils.get_or_insert_function(builder.module, kind, symbol)

    return _calling(symbol.rpartition(".")[2], signature, function)


def by_address(dispatcher: Any) -> Any:
    """Return an njit function that calls a compiled one by address, so that no caller is cached on disk."""
    address = address_of(dispatcher)

    def function(context: Any, builder: Any, kind: Any) -> Any:
        pointer = context.add_dynamic_addr(builder, address, info=dispatcher.__name__)
        return builder.bitcast(pointer, kind.as_pointer())

    stub = _calling(dispatcher.__name__, _signature(dispatcher), function)
    stub.dispatcher = dispatcher
    return stub


def _signature(dispatcher: Any) -> Any:
    return dispatcher.overloads[dispatcher.signatures[0]].signature


def address_of(dispatcher: Any) -> int:
    """Return the address of the machine code of an njit function of one signature."""
    compiled = dispatcher.overloads[dispatcher.signatures[0]]
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def _calling(name: str, signature: Any, function: Callable[[Any, Any, Any], Any]) -> Any:
    """Return an intrinsic that calls the machine code which `function` returns, in Numba's calling convention."""
    from numba.core import cgutils
    from numba.extending import intrinsic

    def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
        convention = context.call_conv
        kind = convention.get_function_type(signature.return_type, signature.args)
        callee = function(context, builder, kind)
        status, result = convention.call_function(builder, callee, signature.return_type, signature.args, args)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    def call(typingctx: Any, *args: Any) -> Any:
        return signature, codegen

    # Numba passes one argument for each parameter of this signature
    names = ["typingctx", *(f"a{k}" for k in range(len(signature.args)))]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    call.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in names])  # type: ignore[attr-defined]
    call.__name__ = name
    stub = intrinsic(call)
    stub.signature = signature
    return stub
