"""Lines of one function in LLVM's assembly: results of instructions, blocks, places on the stack."""

from __future__ import annotations

import struct

STATUS = "%raised"
"""The place of what a function returns to its caller: 0, or that something was raised."""
HELD = "%held"
"""The table of the memory that names hold on to."""


class Lines:
    """What has been written of a function; places are made where it begins, so that LLVM turns them into registers."""

    def __init__(self) -> None:
        self.places: list[str] = []
        self.text: list[str] = []
        self.block = "start"
        self._count = 0

    def name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}{self._count}"

    def new(self, instruction: str) -> str:
        """Write an instruction; return the name of its result."""
        name = self.name("%t")
        self.text.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.text.append(f"  {instruction}")

    def place(self, word: str, first: str = "") -> str:
        """Return a new place for a value of a type, which holds `first` to begin with."""
        name = self.name("%p")
        self.places.append(f"  {name} = alloca {word}")
        if first:
            self.places.append(f"  store {word} {first}, ptr {name}")
        return name

    def part(self, table: str, word: str, at: int) -> str:
        """Return the place of an entry of a table on the stack."""
        name = self.name("%p")
        self.places.append(f"  {name} = getelementptr inbounds {word}, ptr {table}, i64 {at}")
        return name

    def begin(self, label: str) -> None:
        """Begin a block; the one before has ended."""
        self.text.append(f"{label}:")
        self.block = label

    def go(self, label: str) -> None:
        self.do(f"br label %{label}")

    def either(self, test: str, then: str, other: str) -> None:
        self.do(f"br i1 {test}, label %{then}, label %{other}")

    def joined(self, word: str, ways: list[tuple[str, str]]) -> str:
        """Return a value that depends on the block that was before."""
        return self.new(f"phi {word} {', '.join(f'[ {value}, %{block} ]' for value, block in ways)}")


def real(value: float) -> str:
    """Return a double to the bit."""
    return f"0x{struct.unpack('>Q', struct.pack('>d', value))[0]:016X}"
