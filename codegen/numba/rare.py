"""Functions with a rare case inside vectorised loops: one test serves all lanes.

LLVM vectorises a loop with a call only if the call has a vector variant. This module defines such variants (LLVM's
VFABI, `vector-function-abi-variant`). Each returns the usual values; if a lane is rare, it calls the routine for the
rare lanes.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ONE_DOUBLE = ir.DoubleType()
LANES = (2, 4, 8)


def rare(routine, count, *flags, named=""):
    """Return `chosen(is_rare, usual, x)`: usual, or where is_rare the value of a routine of `count` numbers.

    `routine` is a symbol, an LLVM intrinsic or a function of Numba that cannot raise, which may be `named`.
    `flags` are integers that it takes after the numbers.
    """
    is_symbol = isinstance(routine, str)
    name = f"matcalc_rarely_{named or (routine.replace('.', '_') if is_symbol else routine.__name__)}"

    def called(context, builder, args):
        if not is_symbol:
            return compiled(context, builder, routine, args)
        last = [ir.Constant(ir.IntType(32), flag) for flag in flags]
        kind = ir.FunctionType(ONE_DOUBLE, [ONE_DOUBLE] * count + [flag.type for flag in last])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, routine), [*args, *last])

    @intrinsic
    def chosen(typingctx, is_rare, usual, *kinds):
        def codegen(context, builder, signature, args):
            given = [builder.extract_value(args[2], k) for k in range(count)]
            if name not in builder.module.globals:
                define_rare(builder.module, name, count, lambda *given: called(context, *given))
            return builder.call(builder.module.globals[name], [args[0], args[1], *given])

        if len(kinds) == count:
            return types.float64(types.boolean, types.float64, types.StarArgTuple(kinds)), codegen

    return chosen


def compiled(context, builder, function, args):
    """Call a function of Numba for numbers; its status is ignored, since it cannot raise."""
    kinds = (types.float64,) * len(args)
    function.compile(kinds)
    result = function.overloads[kinds]
    context.active_code_library.add_linking_library(result.library)
    return context.call_internal_no_propagate(builder, result.fndesc, result.signature, args)[1]


def define_rare(module, name, count, called):
    """Define a function of one entry and its vector variants in a module."""
    scalar = declare_rare(module, name, count, ONE_DOUBLE, ir.IntType(1))
    rare_body(scalar, scalar.args[0], lambda builder: called(builder, scalar.args[2:]))
    forms = [
        declare_rare(module, f"{name}_{n}", count, *(ir.VectorType(t, n) for t in (ONE_DOUBLE, ir.IntType(1))))
        for n in LANES
    ]
    for form, lanes in zip(forms, LANES, strict=True):
        rare_body(form, None, lambda builder, form=form, lanes=lanes: rare_lanes(builder, scalar, form, lanes))
    shape = "v" * (count + 2)
    variants = ",".join(f"_ZGV_LLVM_N{n}{shape}_{name}({name}_{n})" for n in LANES)
    set.add(scalar.attributes, f'"vector-function-abi-variant"="{variants}"')
    address = ir.IntType(8).as_pointer()
    used = ir.GlobalVariable(module, ir.ArrayType(address, len(forms)), "llvm.compiler.used")
    used.linkage, used.section = "appending", "llvm.metadata"
    used.initializer = ir.Constant(used.value_type, [form.bitcast(address) for form in forms])


def declare_rare(module, name, count, number, truth):
    """Return a function without side effects that LLVM must not inline, so that its call can be vectorised."""
    function = ir.Function(module, ir.FunctionType(number, [truth, *[number] * (count + 1)]), name)
    function.linkage = "linkonce_odr"
    for attribute in ("noinline", "nounwind", "memory(none)", "willreturn"):
        set.add(function.attributes, attribute)
    return function


def rare_body(function, is_rare, far):
    """Emit the body: return the usual values unless a lane is rare."""
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    rarely, usually = function.append_basic_block("rarely"), function.append_basic_block("usually")
    if is_rare is None:
        lanes = ir.IntType(function.args[0].type.count)
        is_rare = builder.icmp_unsigned("!=", builder.bitcast(function.args[0], lanes), lanes(0))
    builder.cbranch(is_rare, rarely, usually)
    builder.position_at_end(usually)
    builder.ret(function.args[1])
    builder.position_at_end(rarely)
    builder.ret(far(builder))


def rare_lanes(builder, scalar, form, lanes):
    """Call the function of one entry for each lane of a vector."""
    result = form.args[1]
    for k in range(lanes):
        place = ir.IntType(32)(k)
        value = builder.call(scalar, [builder.extract_element(arg, place) for arg in form.args])
        result = builder.insert_element(result, value, place)
    return result
