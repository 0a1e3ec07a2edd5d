"""Writes a Loop as array expressions, for a target without a compiler (NumPy).

Each let, sum and store of a Loop becomes one statement on whole arrays. An array read with plain axes is transposed
and broadcast to the loop's axes. Index arithmetic reads through index arrays with the names of the axes, so that
`x[i + j]` is written as in a loop. Summed products become one einsum.
"""

from __future__ import annotations

from collections.abc import Sequence

from matcalc.compiler.code.code import Call, Load, Name, Number
from matcalc.compiler.code.code import Expr as Expression
from matcalc.compiler.code.print_python import expression, integers
from matcalc.compiler.emit.spelling import Expressions, Names, number
from matcalc.compiler.emit.writes import Noted, Statement, Write, place
from matcalc.compiler.entrywise import At, Expr, Guard, Literal, Product, Read, Select, reads, within
from matcalc.compiler.program import Loop, Program, Store, statements
from matcalc.compiler.verify.inequalities import is_evidently_injective
from matcalc.tensor.sizes.size import Size

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class VectorWriter:
    """Writes Loops as array statements.

    `fresh` are buffers without memory so far, which a statement may bind unless they are `fixed`.
    """

    def __init__(self, program: Program, names: Names, fresh: set[str], fixed: frozenset[str]) -> None:
        self.program = program
        self.table = program.table
        self.memory = program.memory
        self.names = names
        self.fresh = fresh
        self.fixed = fixed
        self.axes: list[str] = []
        self.sizes: dict[str, Size] = {}
        self.local: dict[str, frozenset[str]] = {}
        self.guarded = self.selecting = False
        self.expressions = Expressions(names, self.read, self.where)

    # ---- reading

    def read(self, read: Read) -> Expression:
        if read.value in self.local:
            return Name(self.names.give(read.value))
        buffer = self.table[self.program.buffer_of.get(read.value, read.value)]
        if not buffer.shape:
            return self.names.entry(read.value, ())
        name, at = self.names.give(buffer.name), read.at
        if not self.is_plain(at, buffer.shape):
            index = tuple(map(self.names.integer, at))
            return Call("guarded_entries", (Name(name), *index)) if self.selecting else Load(Name(name), index)
        positions = [self.axes.index(a) for a in at if isinstance(a, str)]
        order = sorted(range(len(positions)), key=positions.__getitem__)
        if order != list(range(len(order))):
            name = f"{name}.T" if order == [1, 0] else f"{name}.transpose({', '.join(map(str, order))})"
        return Name(self.broadcast(name, sorted(positions)))

    def broadcast(self, name: str, positions: list[int]) -> str:
        """Insert axes of length one, so that the array aligns with the loop's axes."""
        first = positions[0]
        spots = [":" if k in positions else "None" for k in range(first, len(self.axes))]
        return name if "None" not in spots else f"{name}[{', '.join(spots)}]"

    def is_plain(self, at: At, shape: tuple[Size, ...]) -> bool:
        """Whether an array is read along whole axes of the loop, each once."""
        return self._is_full(at, shape) and len(set(at)) == len(at)

    def _is_full(self, at: At, shape: tuple[Size, ...]) -> bool:
        return all(isinstance(a, str) and self.sizes.get(a) is s for a, s in zip(at, shape, strict=True))

    def where(self, test: Expression, body: Expression) -> Expression:
        return Call("np.where", (test, body, Number(0.0)))

    def spelled(self, expr: Expr) -> str:
        """Return the text of an expression; reads under a Select are guarded against indices outside."""
        self.selecting = self.guarded or any(isinstance(part, Select) for part in within(expr))
        return expression(self.expressions.code(expr))

    def spans(self, expr: Expr) -> frozenset[str]:
        """Return the axes that the value of an expression's text has."""
        found: set[str] = set()
        for top in within(expr):
            if isinstance(top, Read):
                found |= self.local[top.value] if top.value in self.local else self.axes_of(top.at)
            elif isinstance(top, Select):
                for guard in top.guards:
                    found |= self.axes_of((guard.size,))
        return frozenset(found)

    def axes_of(self, at: At) -> frozenset[str]:
        names = {n for a in at for n in ((a,) if isinstance(a, str) else a.names)}
        return frozenset(names & set(self.axes))

    # ---- statements

    def write(self, loop: Loop) -> list[Noted]:
        """Return lines and their comments."""
        selects = any(isinstance(part, Select) for one in statements(loop) for part in within(one.expr))
        self.names.guarded = selects or bool(loop.guards)
        lines = self._written(loop)
        self.names.guarded = False
        return lines

    def _written(self, loop: Loop) -> list[Noted]:
        self.axes = [a for a, _ in loop.axes]
        self.sizes = dict(loop.axes)
        self.local = {}
        lines: list[Noted] = [*self.index_arrays(loop)]
        self.guarded = bool(loop.guards)
        outlived, bound = self.outlived(loop), self.bound(loop)
        for let in loop.lets:
            if let.value in bound and self.spans(let.expr) == frozenset(self.axes):
                self.fresh.discard(self.program.buffer_of[let.value])
                self.names.spelled[let.value] = self.names.give(self.program.buffer_of[let.value])
            else:
                bound.discard(let.value)
            copied = ".copy()" if let.value in outlived else ""
            lines.append((f"{self.names.give(let.value)} = {self.spelled(let.expr)}{copied}", let.comment))
            self.local[let.value] = self.spans(let.expr)
        for store in loop.sums:
            lines.append((self.sum(store, loop.guards), store.comment))
        for store in loop.stores:
            if store.value not in bound:
                lines += [(line, store.comment) for line in self.store(store, loop.guards)]
        self.local = {}
        return lines

    def outlived(self, loop: Loop) -> set[str]:
        """Return the lets that only view a buffer and are read again after it was overwritten."""
        viewed: dict[str, str] = {}
        for let in loop.lets:
            if isinstance(read := self.expressions.seen(let.expr), Read):
                value = read.value
                viewed[let.value] = viewed.get(value) or self._memory_of(value)
        found: set[str] = set()
        written: set[str] = set()
        for store in (*loop.sums, *loop.stores):
            found |= {r.value for r in reads(store.expr) if viewed.get(r.value) in written}
            written.add(self._memory_of(store.value))
        return found

    def is_new(self, expr: Expr) -> bool:
        """Whether the text of an expression makes a new array; it may also be a view of one, or a number."""
        return not isinstance(self.expressions.seen(expr), (Read, Literal))

    def _memory_of(self, value: str) -> str:
        buffer = self.program.buffer_of.get(value, value)
        return self.memory.get(buffer, buffer)

    def bound(self, loop: Loop) -> set[str]:
        """Return the lets that are new arrays with the loop's axes, and so become the buffers that store them."""
        made = {let.value: let.expr for let in loop.lets}
        found: set[str] = set()
        for store in loop.stores if not loop.guards else ():
            buffer = self.table[self.program.buffer_of[store.value]]
            is_stored = store.expr == Read(store.value, store.at) and not (store.onto or store.over)
            is_new = buffer.name in self.fresh - self.fixed and store.at == tuple(self.axes)
            if is_stored and is_new and self.is_new(made.get(store.value, store.expr)):
                found |= {store.value} if self.is_plain(store.at, buffer.shape) else set()
        return found

    def index_arrays(self, loop: Loop) -> list[tuple[str, str]]:
        """Bind the axes used in index arithmetic, diagonals, guards or repeated indices."""
        needed: set[str] = set()
        guards = list(loop.guards)
        for top in (part for statement in statements(loop) for part in within(statement.expr)):
            if isinstance(top, Read) and top.value not in {let.value for let in loop.lets}:
                shape = self.table[self.program.buffer_of.get(top.value, top.value)].shape
                if shape and not self.is_plain(top.at, shape):
                    needed |= self.axes_of(top.at)
            elif isinstance(top, Select):
                guards.extend(top.guards)
        for store in (*loop.sums, *loop.stores):
            if loop.guards or not self.is_plain(store.at, self.table[self.program.buffer_of[store.value]].shape):
                needed |= self.axes_of(store.at)
        for guard in guards:
            needed |= self.axes_of((guard.size,))
        lines = []
        for position, (axis, size) in enumerate(loop.axes):
            if axis in needed:
                span = integers(self.names.size(size), len(self.axes) - 1 - position)
                lines.append((f"{self.names.give(axis)} = {span}", ""))
        return lines

    def sum(self, store: Store, guards: tuple[Guard, ...]) -> Statement:
        buffer = self.table[self.program.buffer_of[store.value]]
        kept = [self.axes.index(a) for a in store.at if isinstance(a, str)]
        text = "" if guards else self.einsum(store)
        if not text:
            body = self.spelled(Select(guards, store.expr) if guards else store.expr)
            missing = set(self.axes) - self.spans(store.expr) - {n for g in guards for n in g.size.names}
            if missing:
                body = f"np.broadcast_to({body}, {self.shape()})"
            over = [k for k in range(len(self.axes)) if k not in kept]
            if not self.axes:
                text = body
            elif not kept:
                text = f"np.sum({body})"
            else:
                axis = str(over[0]) if len(over) == 1 else f"({', '.join(map(str, over))})"
                text = f"np.sum({body}, axis={axis})" if over else body
                rank = sorted(kept)
                if rank != kept:
                    text = f"{text}.transpose({', '.join(str(rank.index(k)) for k in kept)})"
        return self.bind(buffer.name, text, fresh=True)

    def einsum(self, store: Store) -> str:
        """Return a contraction without the intermediate array, if the summand is a product of plain reads, else ""."""
        expr = store.expr
        factors = expr.factors if isinstance(expr, Product) else (expr,)
        if len(factors) < 2 or not all(isinstance(f, Read) for f in factors):
            return ""
        arrays: list[str] = []
        subscripts: list[str] = []
        scalars: list[str] = []
        for factor in factors:
            assert isinstance(factor, Read)
            at: At = factor.at
            buffer = self.table.get(self.program.buffer_of.get(factor.value, factor.value))
            if factor.value in self.local:
                if self.local[factor.value] != frozenset(self.axes):
                    return ""
                at, text = tuple(self.axes), self.names.give(factor.value)
            elif buffer is not None and not buffer.shape:
                scalars.append(expression(self.read(factor)))
                continue
            else:
                assert buffer is not None
                text = self.names.give(buffer.name)
            if any(a not in self.sizes for a in at) or (
                factor.value not in self.local and buffer is not None and not self._is_full(at, buffer.shape)
            ):
                return ""
            arrays.append(text)
            subscripts.append("".join(LETTERS[self.axes.index(a)] for a in at if isinstance(a, str)))
        out = "".join(LETTERS[self.axes.index(a)] for a in store.at if isinstance(a, str))
        if len(arrays) < 2 or set("".join(subscripts)) != {LETTERS[k] for k in range(len(self.axes))}:
            return ""
        text = f'np.einsum("{",".join(subscripts)}->{out}", {", ".join(arrays)})'
        if len(arrays) == 2 and subscripts[0] == subscripts[1] and len(subscripts[0]) == 1 and not out:
            text = f"{arrays[0]} @ {arrays[1]}"
            text = f"({text})" if scalars else text
        coef = expr.coef if isinstance(expr, Product) else 1
        lead = [] if coef == 1 else [expression(number(coef, self.names))]
        text = f"({text})" if lead and "@" in text and not text.startswith("(") else text
        return "*".join([*lead, *scalars, text])

    def store(self, store: Store, guards: tuple[Guard, ...]) -> list[Statement]:
        buffer = self.table[self.program.buffer_of[store.value]]
        name = self.names.give(buffer.name)
        body = self.spelled(store.expr)
        if not buffer.shape:
            at = place(self.names.entry(store.value, ())).at
            return [Write(name, body, at, bool(store.onto)) if at or store.onto else f"{name} = {body}"]
        if self.is_plain(store.at, buffer.shape) and not guards and len(store.at) == len(self.axes):
            positions = [self.axes.index(a) for a in store.at if isinstance(a, str)]
            if positions == list(range(len(positions))):
                whole = self.spans(store.expr) == set(self.axes) and self.is_new(store.expr)
                return [Write(name, body, adds=True) if store.onto else self.bind(buffer.name, body, whole)]
            return [Write(name, body, adds=bool(store.onto), order=tuple(_inverse(positions)))]
        return self.scatter(store, guards, name, body)

    def scatter(self, store: Store, guards: tuple[Guard, ...], name: str, body: str) -> list[Statement]:
        once = is_evidently_injective(store.at, self.axes)
        at = [self.names.size(a) for a in store.at]
        lines: list[Statement] = []
        shape = self.shape()
        if guards:
            here = self.names.local("here")
            lines.append(f"{here} = np.broadcast_to({expression(self.expressions.guards(guards))}, {shape})")
            at = [f"np.broadcast_to({a}, {shape})[{here}]" for a in at]
            body = f"np.broadcast_to({body}, {shape})[{here}]"
        if store.onto and not once:  # several points may add to one entry
            if not guards:  # NumPy's `at` reads out of bounds if values have fewer axes than their indices
                body = f"np.broadcast_to({body}, {shape})"
                if any(all(axis not in Size.of(index).names for index in store.at) for axis in self.axes):
                    at[0] = f"np.broadcast_to({at[0]}, {shape})"
            return [*lines, Write(name, body, tuple(at), adds=True, repeats=True)]
        return [*lines, Write(name, body, tuple(at), bool(store.onto))]

    def bind(self, buffer: str, text: str, fresh: bool) -> Statement:
        """Return the statement that assigns to `buffer`; it binds a new array if the buffer has no memory yet."""
        entry = self.table[buffer]
        name = self.names.give(buffer)
        if not entry.shape:
            return Write(name, text, ("0",)) if entry.role == "output" else f"{name} = {text}"
        if fresh and buffer in self.fresh - self.fixed:
            self.fresh.discard(buffer)
            return f"{name} = {text}"
        return Write(name, text)

    def shape(self) -> str:
        sizes = [self.names.size(s) for s in self.sizes.values()]
        return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"


def _inverse(order: Sequence[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)
