"""Call a compiled kernel through a linker symbol instead of linking its code into each caller.

Numba copies a callee's code into every caller and optimises it again; a kernel behind a symbol is compiled
once, cached on disk, and costs its callers one call instruction. The symbol is the module's content-hash
name, so that a cached caller can never meet another version of the kernel.

What users call from njit code of their own is called by address instead: their cached code would be keyed by
their file alone and outlive a change of the formula, silently. Numba does not cache what holds an address.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def linked(module: str) -> Callable[[Any], Any]:
    """Return a decorator that replaces a compiled njit function of one signature by a call of its symbol.

    The njit function itself stays at `.dispatcher`; it has no way in from Python.
    """

    def decorate(dispatcher: Any) -> Any:
        import llvmlite.binding as llvm
        from numba.core import cgutils

        symbol = f"{module}.{dispatcher.__name__}"
        llvm.add_symbol(symbol, _address(dispatcher))

        def function(context: Any, builder: Any, kind: Any) -> Any:
            return cgutils.get_or_insert_function(builder.module, kind, symbol)

        return _calling(dispatcher, function)

    return decorate


def by_address(dispatcher: Any) -> Any:
    """Return a call of a compiled njit function of one signature that no caller can cache on disk."""
    address = _address(dispatcher)

    def function(context: Any, builder: Any, kind: Any) -> Any:
        pointer = context.add_dynamic_addr(builder, address, info=dispatcher.__name__)
        return builder.bitcast(pointer, kind.as_pointer())

    return _calling(dispatcher, function)


def _address(dispatcher: Any) -> int:
    compiled = dispatcher.overloads[dispatcher.signatures[0]]
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def _calling(dispatcher: Any, function: Callable[[Any, Any, Any], Any]) -> Any:
    """Return an intrinsic that calls the machine code which `function` names, in Numba's own convention."""
    from numba.core import cgutils
    from numba.extending import intrinsic

    signature = dispatcher.overloads[dispatcher.signatures[0]].signature

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

    # Numba passes what the signature names: one parameter for each argument
    names = ["typingctx", *inspect.signature(dispatcher.py_func).parameters]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__name__ = dispatcher.__name__
    stub = intrinsic(call)
    stub.dispatcher = dispatcher
    return stub
