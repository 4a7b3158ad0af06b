"""The scalar control core: state, memory, bus and vector files, and the ways to run a program on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gpsimd_core.control import exceptions, interpreter, layout, registers
from gpsimd_core.control.assembler import Image
from gpsimd_core.control.bus import Access, Bus
from gpsimd_core.control.disassembler import Instruction, decode, disassemble
from gpsimd_core.control.layout import Bytes, Words
from gpsimd_core.control.memory import Memory
from gpsimd_core.control.state import physical
from gpsimd_core.control.table import table
from gpsimd_core.control.trap import Stop, Trap
from gpsimd_core.control.vectorfiles import files
from gpsimd_core.errors import BadValue, Unsupported
from gpsimd_core.isa.lane import compiled

PLAIN_STEPS = 50_000
"""Steps that `run` takes in plain Python before it reaches for the compiled interpreter."""

DEFAULT_STEPS = 10_000_000
HEADROOM = 32
"""Bytes above the first stack pointer: the first frame's a4 to a7 are saved there."""

Handler = Callable[["ControlCore", Trap], None]


class ControlCore:
    """One scalar core.

    Args:
        variant: "q7" (64 address registers, frames of 8, XEA3) or "classic" (32, steps of 4, XEA2, as QEMU has it).
        memory: its memory; 16 MiB at 0 by default.
        registers: physical address registers, 32 or 64; by default the variant's own count.
        spill: "builtin" saves and fills windows as the classic 8-register handlers do and counts the traps; "stop"
            stops with the trap's name. Only q7 knows the difference: classic has handlers.
        vectors: True sends exceptions to the program's handlers at VECBASE, False stops with a report.
        bus: the external-register bus.

    Attributes:
        state: the int64 array of layout.py that the interpreter works on.
        files: the vector side's register files by name.
        handlers: exception name = a function called with the core and the `Trap` instead of stopping; it changes what
            it likes, the program counter included, and the run goes on.
    """

    def __init__(
        self,
        variant: str = "q7",
        *,
        memory: Memory | None = None,
        registers: int | None = None,
        spill: str = "builtin",
        vectors: bool = False,
        bus: Bus | None = None,
    ) -> None:
        self.table = table(variant)
        self.variant = variant
        self.memory = memory if memory is not None else Memory()
        self.bus = bus if bus is not None else Bus()
        self.handlers: dict[str, Handler] = {}
        self.files = files()
        count = registers if registers is not None else 32 if variant == "classic" else 64
        if count not in (32, 64):
            raise BadValue(f"{count} address registers: allowed are 32 and 64")
        if spill not in ("builtin", "stop"):
            raise BadValue(f"spill {spill!r}: allowed are builtin and stop")
        self.state: NDArray[np.int64] = np.zeros(layout.STATE_SIZE, np.int64)
        self._hidden(count, spill, vectors)
        self.a = _Window(self)
        self.ar = _Physical(self.state, count)
        self.sr = _Named(self, "sr")
        self.ur = _Named(self, "ur")

    def _hidden(self, count: int, spill: str, vectors: bool) -> None:
        classic = self.variant == "classic"
        shift = 2 if classic else 3
        m = self.state
        m[layout.CLASSIC] = classic
        m[layout.AR_MASK] = count - 1
        m[layout.FRAME_SHIFT] = shift
        m[layout.WINDOW_MASK] = (count >> shift) - 1
        m[layout.ALWAYS_THERE] = (1 << shift) - 1
        m[layout.LIVE] = 1
        m[layout.BUILTIN] = spill == "builtin"
        m[layout.VECTORED] = vectors
        for register in registers.special(self.variant).values():
            m[layout.SR + register.number] = register.reset
        self.memory.describe(m)

    # State

    @property
    def pc(self) -> int:
        """Address of the next instruction."""
        return int(self.state[layout.PC])

    @pc.setter
    def pc(self, value: int) -> None:
        self.state[layout.PC] = _word("pc", value)

    @property
    def steps(self) -> int:
        """Instructions executed so far."""
        return int(self.state[layout.STEPS])

    @property
    def spills(self) -> int:
        """Windows that the core has saved to memory."""
        return int(self.state[layout.SPILLS])

    @property
    def fills(self) -> int:
        """Windows that the core has read back from memory."""
        return int(self.state[layout.FILLS])

    @property
    def live(self) -> int:
        """q7: the hidden live bits, one a frame."""
        return int(self.state[layout.LIVE])

    def fields(self, name: str) -> dict[str, int]:
        """A structured register by field: ps, ms, wb and exccause on q7, ps on classic, fcr and fsr on both."""
        kind = "ur" if name.lower() in ("fcr", "fsr") else "sr"
        register = registers.find(kind, name, self.variant)
        value = (self.ur if kind == "ur" else self.sr)[register.name]
        return registers.fields(register.name, value, self.variant)

    def set_field(self, name: str, field: str, content: int) -> None:
        """Replace one field of a structured register.

        Raises:
            BadValue: no such register or field, or the content does not fit.
        """
        named = self.ur if name.lower() in ("fcr", "fsr") else self.sr
        named[name] = registers.with_field(name.lower(), named[name], field, content, self.variant)

    @property
    def flags(self) -> frozenset[str]:
        """The floating flags that FSR holds, by name."""
        return frozenset(name for name, bit in self.fields("fsr").items() if bit)

    # Programs

    def load(self, image: Image | bytes, address: int = 0) -> None:
        """Put a program into memory.

        Args:
            image: assembled, or machine code.
            address: of machine code; an assembled image knows its own.

        Raises:
            BadValue: memory does not hold it.
        """
        segments = image.segments if isinstance(image, Image) else ((address, image),)
        for at, data in segments:
            self.memory.write(at, data)

    def start(self, pc: int = 0, stack: int | None = None) -> None:
        """Make ready for a program: program counter, stack pointer, and the saved link of the first frame.

        Args:
            pc: its first instruction.
            stack: for a1; by default 32 bytes below the end of the first region, which is the end of the first
                frame's own save area: [a1 - 12] then points to that end, as a window spill wants it.
        """
        first = self.memory.regions[0]
        top = (first.base + first.size if stack is None else stack + HEADROOM) & ~15
        self.pc = pc
        self.a[1] = top - HEADROOM if stack is None else stack
        link = self.a[1] - 12
        if self.memory.holds(link, 4):
            self.memory.write(link, top.to_bytes(4, "little"))

    def step(self) -> Stop | None:
        """Execute one instruction; as `run`, but None while the program goes on."""
        stop = self.run(1)
        return None if stop.reason == "limit" else stop

    def run(self, max_steps: int = DEFAULT_STEPS, *, fast: bool | None = None) -> Stop:
        """Execute until the program stops.

        Args:
            max_steps: stop after this many instructions.
            fast: True for the compiled interpreter, False for its plain twin, None for the plain one first and the
                compiled one where that turns out worth it. The results are the same.

        Returns:
            Why it stopped: HALT, a simulator exit, the step limit.

        Raises:
            Trap: an exception that no handler took; the state is that before the instruction, but for the exception
                registers and a window spill or fill that came first.
            Unsupported: an instruction whose effect no source gives.
        """
        begin = self.steps
        while (left := max_steps - (self.steps - begin)) > 0:
            quick = fast is True or (fast is None and self.steps - begin >= PLAIN_STEPS)
            some = left if quick or fast is False else min(left, PLAIN_STEPS)
            code = self._advance(quick, some)
            if code in (exceptions.HALT, exceptions.EXIT):
                return self._ended(code, begin)
            if code == exceptions.UNSUPPORTED:
                raise self._unsupported()
            if code == exceptions.ASK_BUS:
                self._ask_bus()
            elif code:
                self._trapped(code)
        return Stop(reason="limit", code=0, steps=self.steps - begin, pc=self.pc)

    def _advance(self, quick: bool, steps: int) -> int:
        run: Callable[..., Any] = compiled(interpreter.run) if quick else interpreter.run
        memory = cast(Bytes, self.memory.bytes)
        return int(run(cast(Words, self.state), memory, cast(Words, self.table.array), steps))

    def _ended(self, code: int, begin: int) -> Stop:
        self.state[layout.STEPS] += 1
        if code == exceptions.EXIT:
            return Stop(reason="exit", code=self.a[3], steps=self.steps - begin, pc=self.pc)
        return Stop(reason="halt", code=self._in_hand().values[0], steps=self.steps - begin, pc=self.pc)

    def _word(self) -> int:
        return int(self.state[layout.WORD])

    def _in_hand(self) -> Instruction:
        """The instruction that the interpreter has just looked at, which is none of the undefined ones."""
        found = decode(self._word(), self.pc, self.variant)
        assert found is not None
        return found

    def _unsupported(self) -> Unsupported:
        instruction = self._in_hand()
        what = f"{instruction.text()} at {self.pc:#010x}"
        missing = instruction.row.missing or "of the simulator calls only 1, exit, is modelled"
        return Unsupported(what, missing, index=self.steps)

    def _ask_bus(self) -> None:
        """Answer the RER or WER in hand; the interpreter then executes it again and finds the answer."""
        instruction = self._in_hand()
        value, address = (self.a[number] for number in instruction.values)
        write = instruction.row.name == "wer"
        access = Access(address=address, write=write, ring=self.ring, eraccess=int(self.state[layout.SR + 0x5F]))
        m = self.state
        if not self.bus.allows(access):
            m[layout.BUS_READY] = 2
            m[layout.BUS_VALUE] = address
            return
        m[layout.BUS_READY] = 1
        if write:
            self.bus.write(address, value)
        else:
            m[layout.BUS_VALUE] = self.bus.read(address) & layout.MASK

    @property
    def ring(self) -> int:
        """The ring in force: 0 inside a handler."""
        if exceptions.user(cast(Words, self.state)):
            return self.fields("ps")["RING"]
        return 0

    def _trapped(self, code: int) -> None:
        trap = self._trap(code)
        handler = self.handlers.get(trap.name)
        if handler is None:
            raise trap
        handler(self, trap)
        self.state[layout.STEPS] += 1

    def _trap(self, code: int) -> Trap:
        name = exceptions.NAMES[code - 1]
        fetched = code not in (exceptions.FETCH_ERROR, exceptions.FETCH_PROHIBITED)
        word = self._word() if fetched else None
        instruction = decode(word, self.pc, self.variant) if word is not None else None
        text = "(not fetched)" if word is None else disassemble(word, self.pc, self.variant)
        named = instruction.registers() if instruction else ()
        about = exceptions.about_an_address(code) or name == "ExternalRegisterPrivilege"
        return Trap(
            name=name,
            cause=exceptions.cause(name, self.variant),
            pc=self.pc,
            word=word,
            text=text,
            address=int(self.state[layout.ADDRESS]) if about else None,
            registers={f"a{number}": self.a[number] for number in named},
            double=bool(self.state[layout.DOUBLE]),
            step=self.steps,
        )

    # Values

    def leaf(self, name: str, *operands: Any, fast: bool | None = None, **named: Any) -> Any:
        """Call a value leaf under this core's floating control.

        A leaf that takes a rounding mode gets FCR's; the flags that it raises are OR-ed into FSR, where they stay
        until somebody writes FSR. Leaves with a mode of their own do not look at FCR.

        Args:
            name: as for `gpsimd_core.isa.leaves.leaf`.
            operands, named: its operands, as there, without `mode`.
            fast: its `compiled`.

        Returns:
            Its value.

        Raises:
            BadValue: `mode` was given, or an operand does not fit.
            Unsupported: no source gives the value.
        """
        from gpsimd_core.isa import leaves

        function = leaves.leaf(name, compiled=fast)
        if "mode" in named or len(operands) + len(named) > len(function.leaf.args) - function.leaf.takes_mode:
            raise BadValue(f"{name}: the core's FCR gives the rounding mode; call the plain leaf to choose one")
        if function.leaf.takes_mode:
            named["mode"] = self.fields("fcr")["RM"]
        value, raised = function(*operands, flags=True, **named)
        self.raise_flags(raised)
        return value

    def raise_flags(self, raised: Mapping[str, Any]) -> None:
        """OR floating flags into FSR: name, in any case and with or without underscore, = flag or array of flags."""
        layout_of = {field.lower(): field for field in registers.FIELDS[self.variant]["fsr"]}
        for name, lanes in raised.items():
            if np.any(lanes):
                self.set_field("fsr", layout_of[name.lower().replace("_", "")], 1)


def _word(what: str, value: int) -> int:
    if not 0 <= value <= layout.MASK:
        raise BadValue(f"{what} is 32 bits wide; {value:#x} does not fit")
    return value


class _Window:
    """a0 to a15 as the window shows them."""

    def __init__(self, core: ControlCore) -> None:
        self._state = core.state

    def _at(self, number: int) -> int:
        if not 0 <= number <= 15:
            raise BadValue(f"the window has a0 to a15, not a{number}")
        return physical(cast(Words, self._state), number)

    def __getitem__(self, number: int) -> int:
        return int(self._state[self._at(number)])

    def __setitem__(self, number: int, value: int) -> None:
        self._state[self._at(number)] = _word(f"a{number}", value)


class _Physical:
    """The address registers by their physical number."""

    def __init__(self, state: NDArray[np.int64], count: int) -> None:
        self._state, self._count = state, count

    def __len__(self) -> int:
        return self._count

    def _at(self, number: int) -> int:
        if not 0 <= number < self._count:
            raise BadValue(f"there are {self._count} address registers, no number {number}")
        return layout.AR + number

    def __getitem__(self, number: int) -> int:
        return int(self._state[self._at(number)])

    def __setitem__(self, number: int, value: int) -> None:
        self._state[self._at(number)] = _word(f"ar{number}", value)


class _Named:
    """Special or user registers by name or number; writing keeps the implemented bits."""

    def __init__(self, core: ControlCore, kind: str) -> None:
        self._core, self._kind = core, kind
        self._first = layout.SR if kind == "sr" else layout.UR

    def __getitem__(self, name: str | int) -> int:
        register = registers.find(self._kind, name, self._core.variant)
        return int(self._core.state[self._first + register.number])

    def __setitem__(self, name: str | int, value: int) -> None:
        register = registers.find(self._kind, name, self._core.variant)
        at = self._first + register.number
        kept = int(self._core.state[at]) & ~register.mask
        self._core.state[at] = kept | _word(register.name, value) & register.mask
