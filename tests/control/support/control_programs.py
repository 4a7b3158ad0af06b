"""Random programs over what QEMU's cores and the classic variant both have. They end, whatever they compute."""

from __future__ import annotations

import random
from collections.abc import Callable

from gpsimd_core.control import Image

DATA = 0x4000
DATA_WORDS = 32
STACK = 0x10000
STACK_WORDS = 96

PREFACE = f"""
        movi a2, 1
        slli a2, a2, 18
        wsr.ps a2               ; windows on, handlers off
        rsync
        movi a2, 1
        wsr.windowstart a2
        rsync
        slli a1, a2, 16         ; the stack pointer, {STACK:#x}
        addi a3, a1, 64
        addi a4, a1, -16
        s32i a3, a4, 4          ; the first frame's link
        movi a3, -1
        wsr.cpenable a3
        rsync
        slli a15, a2, 14        ; the data, {DATA:#x}
"""

READ_BACK = f"""
        movi a2, 1
        slli a3, a2, 14
        movi a4, {DATA_WORDS}
        loop a4, data_read
        l32i a5, a3, 0
        addi a3, a3, 4
data_read:
        slli a3, a2, 16
        addmi a3, a3, {-(4 * STACK_WORDS // 256 + 1) * 256}
        movi a4, {STACK_WORDS}
        loop a4, stack_read
        l32i a5, a3, 0
        addi a3, a3, 4
stack_read:
        movi a2, 1
        movi a3, 0
        nop
        simcall
"""

# What llvm-mc has no mnemonic for and stands in no other place than where it is written.
FOREIGN = ("ssa8b", "salt", "saltu", "l32ai", "s32ri", "simcall")


class Writer:
    """Writes one program.

    Args:
        seed: of the random numbers.
        booleans: whether the core has booleans and SALT (de233_fpu).
        common: only what q7 and classic both have, with one meaning; `for_q7` makes the q7 program of it.
    """

    def __init__(self, seed: int, booleans: bool, common: bool = False) -> None:
        self.random = random.Random(seed)
        self.booleans = booleans
        self.common = common
        self.steps = (8,) if common else (4, 8, 12)
        self.lines: list[str] = []
        self.labels = 0

    def program(self) -> str:
        """The whole text."""
        pick = self.random
        pool = [pick.choice((pick.getrandbits(32), 1 << pick.randrange(32))) for _ in range(4)]
        functions = [f"function{n}" for n in range(pick.randrange(1, 4))]
        self.emit("j start", ".align 4", *(f"literal{n}: .word {value:#x}" for n, value in enumerate(pool)))
        self.emit(*(f"address{n}: .word {name}" for n, name in enumerate(functions)))
        for name in functions:
            self.function(name, functions)
        self.emit(".align 4", "leaf:", "addx4 a2, a2, a3", pick.choice(("ret", "ret.n")))
        self.lines.append("start:")
        self.lines += PREFACE.splitlines()
        for register in range(2, 15):
            self.emit(f"l32r a{register}, literal{pick.randrange(4)}")
            if pick.random() < 0.5:
                self.emit(f"movi a{register}, {pick.randrange(-2048, 2048)}")
        for _ in range(pick.randrange(8, 16)):
            self.unit(depth=0)
            if pick.random() < 0.25:
                self.call(functions)
        self.emit("end_of_work:")
        self.lines += READ_BACK.splitlines()
        return "\n".join(self.lines) + "\n"

    def emit(self, *lines: str) -> None:
        self.lines += [line if ":" in line else f"        {line}" for line in lines]

    def label(self) -> str:
        self.labels += 1
        return f"at{self.labels}"

    # Operands. a1 is the stack pointer, a15 the data, a14 a counter; anything else is fair.

    def source(self) -> str:
        return f"a{self.random.randrange(0, 14)}"

    def target(self) -> str:
        return f"a{self.random.choice((0, *range(2, 14)))}"

    def flag(self) -> str:
        return f"b{self.random.randrange(16)}"

    # Pieces of a program.

    def unit(self, depth: int) -> None:
        pick = self.random.random()
        if depth < 2 and pick < 0.12:
            self.loop(depth)
        elif depth < 2 and pick < 0.18:
            self.counted(depth)
        elif depth < 3 and pick < 0.42:
            self.branch(depth)
        elif pick < 0.46 and not self.common:
            self.trap()
        else:
            for _ in range(self.random.randrange(1, 6)):
                self.plain()

    def plain(self) -> None:
        kinds: list[Callable[[], None]] = [self.three, self.three, self.two, self.constant, self.shifts, self.memory]
        kinds += [self.moves, self.products, self.registers, self.narrow]
        if self.booleans:
            kinds.append(self.flags)
        self.random.choice(kinds)()

    def three(self) -> None:
        names = ["add", "addx2", "addx4", "addx8", "sub", "subx2", "subx4", "subx8", "and", "or", "xor"]
        names += ["min", "max", "minu", "maxu"] + ["salt", "saltu"] * self.booleans
        self.emit(f"{self.random.choice(names)} {self.target()}, {self.source()}, {self.source()}")

    def two(self) -> None:
        name = self.random.choice(("neg", "abs", "nsa", "nsau", "clamps", "sext"))
        more = f", {self.random.randrange(7, 23)}" if name in ("clamps", "sext") else ""
        self.emit(f"{name} {self.target()}, {self.source()}{more}")

    def constant(self) -> None:
        pick = self.random
        choices = (
            f"addi {self.target()}, {self.source()}, {pick.randrange(-128, 128)}",
            f"addmi {self.target()}, {self.source()}, {256 * pick.randrange(-128, 128)}",
            f"movi {self.target()}, {pick.randrange(-2048, 2048)}",
            f"l32r {self.target()}, literal{pick.randrange(4)}",
        )
        self.emit(pick.choice(choices))

    def shifts(self) -> None:
        pick = self.random
        name = pick.choice(("slli", "srli", "srai", "extui", "amount", "wide"))
        if name == "slli":
            self.emit(f"slli {self.target()}, {self.source()}, {pick.randrange(1, 32)}")
        elif name in ("srli", "srai"):
            self.emit(f"{name} {self.target()}, {self.source()}, {pick.randrange(16 if name == 'srli' else 32)}")
        elif name == "extui":
            low = pick.randrange(32)
            self.emit(f"extui {self.target()}, {self.source()}, {low}, {pick.randrange(1, min(16, 32 - low) + 1)}")
        elif name == "amount":  # at most 32, as SLL wants it
            setter = pick.choice(("ssr", "ssl", "ssa8l", "ssa8b", "ssai"))
            self.emit(f"{setter} {pick.randrange(32) if setter == 'ssai' else self.source()}")
            self.emit(f"sll {self.target()}, {self.source()}")
            self.by_amount()
        else:  # up to 63
            register = self.target()
            self.emit(f"movi {register}, {pick.randrange(64)}", f"wsr.sar {register}")
            self.by_amount()

    def by_amount(self) -> None:
        name = self.random.choice(("srl", "sra", "src"))
        more = f", {self.source()}" if name == "src" else ""
        self.emit(f"{name} {self.target()}, {self.source()}{more}")

    def memory(self) -> None:
        pick = self.random
        size = pick.choice((1, 2, 4))
        offset = size * pick.randrange(4 * DATA_WORDS // size)
        if pick.random() < 0.5:
            word = "s32i" if self.common else pick.choice(("s32i", "s32ri"))
            name = {1: "s8i", 2: "s16i", 4: word}[size]
            self.emit(f"{name} {self.source()}, a15, {offset}")
        else:
            word = "l32i" if self.common else pick.choice(("l32i", "l32ai"))
            name = {1: "l8ui", 2: pick.choice(("l16ui", "l16si")), 4: word}[size]
            self.emit(f"{name} {self.target()}, a15, {offset}")

    def moves(self) -> None:
        names = ["moveqz", "movnez", "movltz", "movgez"] + ["movf", "movt"] * self.booleans
        name = self.random.choice(names)
        condition = self.flag() if name in ("movf", "movt") else self.source()
        self.emit(f"{name} {self.target()}, {self.source()}, {condition}")

    def products(self) -> None:
        name = self.random.choice(("mull", "mul16u", "mul16s", "quou", "quos", "remu", "rems"))
        divisor = self.source()
        if name in ("quou", "quos", "remu", "rems"):
            divisor = self.target()
            value = self.random.choice((-1, 1, 2, 3, 7, -5, 100, -2048, 2047))
            self.emit(f"movi {divisor}, {value}")
        self.emit(f"{name} {self.target()}, {self.source()}, {divisor}")

    def registers(self) -> None:
        pick = self.random
        names = ["misc0", "misc1", "sar"] + ["br"] * self.booleans
        name = pick.choice(names if self.common else [*names, "excsave2", "scompare1"])
        form = pick.choice(("rsr", "wsr", "xsr")) if name != "sar" else "rsr"
        choices = [
            f"{form}.{name} {self.target()}",
            f"rsr.{pick.choice(('lbeg', 'lend', 'lcount'))} {self.target()}",
            f"rur.threadptr {self.target()}",
            f"wur.threadptr {self.source()}",
            pick.choice(("nop", "memw", "extw", "isync", "dsync", "esync", "excw")),
        ]
        if not self.common:
            choices.append(f"rsr.{pick.choice(('ps', 'windowbase', 'windowstart'))} {self.target()}")
            choices.append(f"rsil {self.target()}, {pick.randrange(16)}")
        self.emit(pick.choice(choices))

    def narrow(self) -> None:
        pick = self.random
        choices = (
            f"add.n {self.target()}, {self.source()}, {self.source()}",
            f"addi.n {self.target()}, {self.source()}, {pick.choice((-1, *range(1, 16)))}",
            f"mov.n {self.target()}, {self.source()}",
            f"movi.n {self.target()}, {pick.randrange(-32, 96)}",
            f"l32i.n {self.target()}, a15, {4 * pick.randrange(16)}",
            f"s32i.n {self.source()}, a15, {4 * pick.randrange(16)}",
            "nop.n",
        )
        self.emit(pick.choice(choices))

    def flags(self) -> None:
        pick = self.random
        name = pick.choice(("andb", "andbc", "orb", "orbc", "xorb", "all4", "any4", "all8", "any8"))
        if name in ("all4", "any4", "all8", "any8"):
            step = int(name[-1])
            self.emit(f"{name} {self.flag()}, b{step * pick.randrange(16 // step)}")
        else:
            self.emit(f"{name} {self.flag()}, {self.flag()}, {self.flag()}")

    def condition(self, label: str, last: bool = False) -> str:
        """A branch to `label`; a narrow one cannot reach a label right behind it."""
        pick = self.random
        kind = pick.choice([k for k in (*range(6 + self.booleans), 5, 5) if k != 4 or not last])
        if kind == 0:
            return f"{pick.choice(('beqz', 'bnez', 'bltz', 'bgez'))} {self.source()}, {label}"
        if kind == 1:
            constant = pick.choice((-1, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 32, 64, 128, 256))
            return f"{pick.choice(('beqi', 'bnei', 'blti', 'bgei'))} {self.source()}, {constant}, {label}"
        if kind == 2:
            constant = pick.choice((32768, 65536, 2, 3, 8, 256))
            return f"{pick.choice(('bltui', 'bgeui'))} {self.source()}, {constant}, {label}"
        if kind == 3:
            return f"{pick.choice(('bbci', 'bbsi'))} {self.source()}, {pick.randrange(32)}, {label}"
        if kind == 4:
            return f"{pick.choice(('beqz.n', 'bnez.n'))} {self.source()}, {label}"
        if kind == 5:
            names = ("bnone", "beq", "blt", "bltu", "ball", "bbc", "bany", "bne", "bge", "bgeu", "bnall", "bbs")
            return f"{pick.choice(names)} {self.source()}, {self.source()}, {label}"
        return f"{pick.choice(('bf', 'bt'))} {self.flag()}, {label}"

    def branch(self, depth: int) -> None:
        label = self.label()
        kind = self.random.random()
        if kind < 0.1:
            self.emit(*self.jump_through_register(label))
        else:
            self.emit(self.condition(label) if kind < 0.8 else f"j {label}")
        for _ in range(self.random.randrange(1, 3)):
            self.plain()
        self.emit(f"{label}:")
        self.plain()

    def jump_through_register(self, label: str) -> tuple[str, ...]:
        """L32R of an address and JX."""
        register, over, literal = self.target(), self.label(), self.label()
        words = (f"j {over}", ".align 4", f"{literal}: .word {label}", f"{over}:")
        return (*words, f"l32r {register}, {literal}", f"jx {register}")

    def loop(self, depth: int) -> None:
        """A zero-overhead loop; sometimes with a way out, a branch onto its end, or another loop inside."""
        pick = self.random
        end, out = self.label(), self.label()
        name = pick.choice(("loop", "loopnez", "loopgtz"))
        count = pick.randrange(1, 5) if name == "loop" else pick.randrange(-2 if name == "loopgtz" else 0, 5)
        register = self.target()
        self.emit(f"movi {register}, {count}", f"{name} {register}, {end}")
        for _ in range(pick.randrange(1, 4)):
            self.plain()
        if pick.random() < 0.3:
            self.emit(self.condition(pick.choice((end, out))))
            self.plain()
        if depth < 1 and pick.random() < 0.2:
            self.loop(depth + 1)
        if pick.random() < 0.3:
            self.emit(self.condition(end, last=True))  # the last instruction: not taken, it loops back
        else:
            self.plain()
        self.emit(f"{end}:")
        self.plain()
        self.emit(f"{out}:")
        self.plain()

    def counted(self, depth: int) -> None:
        """A loop by a branch backwards, counted in a14."""
        if depth:
            return
        back = self.label()
        self.emit(f"movi a14, {self.random.randrange(1, 5)}", f"{back}:")
        for _ in range(self.random.randrange(1, 4)):
            self.plain()
        self.emit("addi a14, a14, -1", f"bnez a14, {back}")

    def trap(self) -> None:
        """An instruction that goes to the handler, which steps over it."""
        pick = self.random
        register = self.target()
        choices = (
            ("syscall",),
            ("ill",),
            (f"movi {register}, 0", f"quos {self.target()}, {self.source()}, {register}"),
            (f"addi {register}, a15, {pick.randrange(1, 4)}", f"l32i {self.target()}, {register}, 0"),
            (f"addi {register}, a15, 1", f"s16i {self.source()}, {register}, 2"),
            ("break 1, 2",),
        )
        self.emit(*pick.choice(choices))

    def call(self, functions: list[str]) -> None:
        """A call from the first frame, its argument the depth of the recursion."""
        pick = self.random
        if pick.random() < 0.2:
            self.emit("call0 leaf")
            return
        step = pick.choice(self.steps)
        self.emit(f"movi a{step + 2}, {pick.choice((0, 1, 3, 6, 9, 14))}")
        self.emit(f"call{step} {pick.choice(functions)}")
        self.emit("movi a15, 1", "slli a15, a15, 14")  # the callee may have had this register

    def function(self, name: str, functions: list[str]) -> None:
        """A function of its depth: calls on with one less, works a little, returns a mixture."""
        pick = self.random
        out = self.label()
        step = pick.choice(self.steps)
        call = pick.choice((f"call{step} {pick.choice(functions)}", f"callx{step} a3"))
        self.emit(".align 4", f"{name}:", f"entry a1, {pick.choice((48, 64, 80))}")
        self.emit(f"l32r a3, address{pick.randrange(len(functions))}")
        if self.common:  # what a new frame holds depends on how many registers there are
            self.emit(*(f"addi a{number}, a2, {number}" for number in range(4, 8)))
        self.emit(pick.choice((f"beqz a2, {out}", f"blti a2, 1, {out}", f"beqz.n a2, {out}")))
        self.emit(f"addi a{step + 2}, a2, -1", call)
        self.emit(f"add a2, a2, a{step + 2}", f"xor a{pick.randrange(3, 8)}, a2, a{pick.randrange(2, 16)}")
        self.emit(f"{out}:", f"addx2 a2, a2, a{pick.randrange(2, 8)}")
        self.emit(pick.choice(("retw", "retw.n")))


def for_llvm(text: str, image: Image) -> str:
    """The program with what llvm-mc does not know written as bytes and addresses.

    Args:
        text: the program.
        image: what our assembler made of it.
    """
    code, starts = image.flat(), {line: address for address, line in image.lines.items()}
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        words = line.split(";")[0].split()
        if words and words[0] in FOREIGN:
            at = starts[number] - image.base
            lines[number - 1] = "        .byte " + ", ".join(str(byte) for byte in code[at : at + 3])
        elif len(words) > 2 and words[1] == ".word" and words[2] in image.symbols:
            lines[number - 1] = f"{words[0]} .long {image.symbols[words[2]]:#x}"
        else:
            lines[number - 1] = line.split(";")[0].replace(".align 4", ".balign 4, 0").replace(".word", ".long")
    return "\n".join(lines) + "\n"


def for_q7(text: str) -> str:
    """A `common` program for q7, address for address: what classic does to switch its windows on is left out."""
    for old, new in (("wsr.ps a2", "nop"), ("wsr.windowstart a2", "nop"), ("simcall", "halt 0")):
        text = text.replace(old, new)
    return text
