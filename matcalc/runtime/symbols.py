"""Call a compiled kernel through a linker symbol instead of linking its code into each caller.

Numba copies a callee's code into every caller and optimises it again; a kernel behind a symbol is compiled
once, cached on disk, and costs its callers one call instruction. The symbol is the module's content-hash
name, so that a cached caller can never meet another version of the kernel.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def linked(module: str) -> Callable[[Any], Any]:
    """Return a decorator that replaces a compiled njit function of one signature by a call of its symbol.

    The njit function itself stays at `.dispatcher`, for calls from Python.
    """

    def decorate(dispatcher: Any) -> Any:
        import llvmlite.binding as llvm
        from numba.core import cgutils
        from numba.extending import intrinsic

        compiled = dispatcher.overloads[dispatcher.signatures[0]]
        signature = compiled.signature
        symbol = f"{module}.{dispatcher.__name__}"
        llvm.add_symbol(symbol, compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name))

        def codegen(context: Any, builder: Any, _: Any, args: Any) -> Any:
            convention = context.call_conv
            kind = convention.get_function_type(signature.return_type, signature.args)
            function = cgutils.get_or_insert_function(builder.module, kind, symbol)
            status, result = convention.call_function(
                builder, function, signature.return_type, signature.args, args
            )
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        def call(typingctx: Any, *args: Any) -> Any:
            return signature, codegen

        # Numba passes what the signature names: one parameter for each argument
        names = ["typingctx", *inspect.signature(dispatcher.py_func).parameters]
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(name, kind) for name in names]
        )
        call.__name__ = dispatcher.__name__
        stub = intrinsic(call)
        stub.dispatcher = dispatcher
        return stub

    return decorate
