"""tensor_dequantize (0x7B): every code of every form, random patterns, and what no source grounds."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from family_model import Case, Load, Maker, Model, Twin
from records import UINT32
from value_model import FLOATS, magnitude_code

import gpsimd_core as gp

GENERATIONS = ("cayman", "mariana", "mariana_plus", "maverick")

E2M1 = [0, Fraction(1, 2), 1, Fraction(3, 2), 2, 3, 4, 6]
"""The published grid of E2M1."""


def value(form: int, code: int) -> tuple[bool, Fraction]:
    """Sign and magnitude of a packed code."""
    if form == 1:
        return code >= 8, Fraction(E2M1[code & 7])
    if form == 2:
        number = code - 16 if code >= 8 else code
        return number < 0, Fraction(abs(number))
    exponent, mantissa = code >> 3 & 3, code & 7  # E2M3, bias 1
    size = Fraction(mantissa, 8) if exponent == 0 else (1 + Fraction(mantissa, 8)) * 2 ** (exponent - 1)
    return code >= 32, size


def byte(form: int, code: int) -> int:
    """The fp8 byte of a packed code."""
    fmt = FLOATS["e4m3" if form == 4 else "e5m2"]
    negative, size = value(form, code)
    return (fmt.sign if negative else 0) | magnitude_code(fmt, size)


def dequantize(maker: Maker) -> Case:
    rng = maker.rng
    form = rng.choice([1, 2, 4])
    channels = maker.channels()
    unit, grown = (3, 4) if form == 4 else (1, 2)
    times = rng.choice([1, 2, 5])
    src = maker.operand(channels, UINT32, maker.split(unit * times, 3), region="sbuf")
    dst = maker.target(channels, UINT32, maker.split(grown * times, 3), psum=False)
    fields = {
        "num_active_channels": channels, "in_dtype": UINT32, "out_dtype": UINT32, "dequant_fmt": form,
        "src": maker.pattern(src, channels), "dst": maker.pattern(dst, channels),
    }  # fmt: skip
    width = 6 if form == 4 else 4

    def effect(model: Model) -> None:
        written = []
        for row in model.read(src, channels):
            stream = sum(word << 32 * k for k, word in enumerate(row))
            codes = [stream >> width * k & (1 << width) - 1 for k in range(32 * len(row) // width)]
            out = [byte(form, code) for code in codes]
            written.append([sum(out[4 * w + k] << 8 * k for k in range(4)) for w in range(len(out) // 4)])
        model.write(dst, written)

    return Case("tensor_dequantize", fields, effect, [src])


@pytest.mark.parametrize("gen", GENERATIONS)
def test_random_dequantizations(load: Load, gen: str) -> None:
    twin = Twin(load(gen))
    for n in range(50):
        maker = twin.maker(f"dequantize-{n}")
        twin.run(maker, dequantize(maker))


def words(codes: list[int], width: int) -> np.ndarray:
    """Codes packed from the low bits up."""
    stream = sum(code << width * k for k, code in enumerate(codes))
    return np.array([[stream >> 32 * k & 0xFFFFFFFF for k in range(len(codes) * width // 32)]], np.uint32)


@pytest.mark.parametrize("form", [1, 2, 4])
@pytest.mark.parametrize("gen", GENERATIONS)
def test_every_code(load: Load, gen: str, form: int) -> None:
    """The values are exact in both formats; E4M3 of 7.5 and below is the same byte in either flavour."""
    width = 6 if form == 4 else 4
    codes = list(range(1 << width))
    machine = load(gen)
    core = gp.NeuronCore(machine)
    packed = words(codes, width)
    core.sbuf.write(packed, 0, 0)
    src = gp.Tensor("sbuf", partition=0, offset=0, dtype="uint32", shape=packed.shape)
    dst = gp.Tensor("sbuf", partition=0, offset=512, dtype="uint32", shape=(1, len(codes) // 4))
    core.run(machine.encode("tensor_dequantize", src=src, dst=dst, dequant_fmt=form))
    found = core.sbuf.read(0, 512, shape=(1, len(codes)), dtype="uint8")[0].tolist()
    assert found == [byte(form, code) for code in codes]


@pytest.mark.parametrize(
    ("form", "group", "num", "says"),
    [
        (3, 0, (4, 8), "NF4 code book"),
        (1, 8, (5, 8), "where the scale of a group stands"),
        (2, 8, (5, 8), "where the scale of a group stands"),
    ],
)
def test_what_is_not_grounded_is_named(load: Load, form: int, group: int, num: tuple[int, int], says: str) -> None:
    machine = load("cayman")
    src, dst = (gp.Tensor("sbuf", partition=0, offset=512 * k, dtype="uint32", shape=(1, n)) for k, n in enumerate(num))
    record = machine.encode("tensor_dequantize", src=src, dst=dst, dequant_fmt=form, group_size=group)
    assert machine.validate(record).ok
    with pytest.raises(gp.Unsupported, match=says):
        gp.NeuronCore(machine).run(record)


def test_sunda_declares_the_opcode_and_executes_nothing(load: Load) -> None:
    """The record is opaque there: header and events are checked, the rest is listed, dispatch faults."""
    machine = load("sunda")
    record = bytearray(64)
    record[:2] = 0x7B, 16
    report = machine.validate(bytes(record))
    assert report.ok
    assert report.not_checked
    with pytest.raises(gp.NotExecutable, match="tensor_dequantize is declared on sunda but not executable"):
        gp.NeuronCore(machine).run(bytes(record))
