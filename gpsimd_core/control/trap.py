"""What a program's stop says: an exception of the core as an error with a readable report, or an ordinary end."""

from __future__ import annotations

from attrs import frozen

from gpsimd_core.control.words import length
from gpsimd_core.errors import Fault

REASONS = {
    "IllegalInstruction": "no instruction of this variant has this word, or its operands are not allowed here",
    "InstructionFetchError": "no memory region holds the instruction",
    "InstFetchProhibited": "the memory region is not executable",
    "Privileged": "the instruction needs ring 0 or a handler, and the core runs in a user ring",
    "ExternalRegisterPrivilege": "the gate of the external-register bus denies this ring the access",
    "LoadStoreError": "no memory region holds the bytes",
    "LoadStoreAlignment": "the address is not a multiple of the access's size",
    "LoadStoreProhibited": "the memory region forbids the access",
    "StoreProhibited": "the memory region forbids the store",
    "KSLStackLimitViolation": "the address lies below the kernel-stack limit KSL",
    "ISLStackLimitViolation": "the address lies below the interrupt-stack limit ISL",
    "IntegerDivideByZero": "the divisor is 0",
    "WindowOverflow8": "the registers of the next frame still belong to a caller; they must go to memory first",
    "WindowUnderflow8": "the caller's frame is not in the registers; it must come back from memory first",
    "WindowInstCall0": "ENTRY in a frame that was not called with a window (WB.S is 0)",
    "Alloca": "MOVSP while the caller's frame is in memory",
    "Break": "a BREAK instruction",
    "BreakN": "a BREAK.N instruction",
    "Syscall": "a SYSCALL instruction",
    "Coprocessor0": "CPENABLE bit 0 is clear",
}


class Trap(Fault):
    """An exception that no handler of the program took.

    Attributes:
        name: of the exception, as in the roster.
        cause: its EXCCAUSE number on this variant.
        pc: address of the instruction.
        word: the instruction, None when it could not be fetched.
        text: the instruction in assembly.
        address: the address that the exception is about, None if it is about none.
        registers: the address registers that the instruction names, with their values.
        double: True when it struck inside a handler.
        step: instructions executed before it.
    """

    def __init__(
        self,
        *,
        name: str,
        cause: int,
        pc: int,
        word: int | None,
        text: str,
        address: int | None,
        registers: dict[str, int],
        double: bool,
        step: int,
    ) -> None:
        self.name = name
        self.cause = cause
        self.pc = pc
        self.word = word
        self.text = text
        self.address = address
        self.registers = registers
        self.double = double
        self.step = step
        super().__init__(self._report(), index=step, where=text)

    def _report(self) -> str:
        double = "double exception, " if self.double else ""
        lines = [f"{double}{self.name} (cause {self.cause:#x}) at {self.pc:#010x}, step {self.step}"]
        if self.word is not None:
            lines.append(f"instruction  {self.text}    word {self.word:0{2 * length(self.word)}x}")
        if self.address is not None:
            lines.append(f"address      {self.address:#010x}")
        if self.registers:
            values = "  ".join(f"{register} = {value:#010x}" for register, value in self.registers.items())
            lines.append(f"registers    {values}")
        reason = "an ILL instruction" if self.text in ("ill", "ill.n") else REASONS.get(self.name, self.name)
        lines.append(f"reason       {reason}")
        return "\n  ".join(lines)


@frozen(kw_only=True)
class Stop:
    """Why a run ended without an exception.

    Args:
        reason: "halt" (HALT), "exit" (simulator call 1 on classic) or "limit" (the step limit).
        code: the operand of HALT, the exit code of the simulator call, else 0.
        steps: instructions executed in this run.
        pc: where execution stopped.
    """

    reason: str
    code: int
    steps: int
    pc: int

    def __str__(self) -> str:
        what = {"halt": f"halt {self.code}", "exit": f"exit {self.code}", "limit": "step limit"}[self.reason]
        return f"{what} at {self.pc:#010x} after {self.steps} steps"
