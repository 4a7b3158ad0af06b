"""Operand layouts, one module each; `LAYOUTS` finds them by the name of their struct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module

from gpsimd_core.isa.layout import Layout

__all__ = ["LAYOUTS"]


class _Layouts(Mapping[str, type[Layout]]):
    """Struct name to layout class. A layout's module, the struct name in lower case, is imported on first use."""

    def __init__(self, classes: Mapping[str, str]) -> None:
        self._classes = classes

    def __getitem__(self, struct: str) -> type[Layout]:
        name = self._classes[struct]
        found: type[Layout] = getattr(import_module(f"{__name__}.{struct.lower()}"), name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


LAYOUTS: Mapping[str, type[Layout]] = _Layouts(
    {
        "CTRL_AL": "CtrlAl",
        "CTRL_IM": "CtrlIm",
        "CTRL_MV": "CtrlMv",
        "CTRL_NO": "CtrlNo",
        "CUSTOM_OP_HEADER": "CustomOpHeader",
        "CUSTOM_OP_PAYLOAD": "CustomOpPayload",
        "D1_RD": "D1Rd",
        "D4_IOTA": "D4Iota",
        "D4_MR": "D4Mr",
        "DMA_DIRECT2D": "DmaDirect2D",
        "DMA_INDIRECT1D": "DmaIndirect1D",
        "EXTENDED_TTA": "ExtendedTta",
        "MODIFY_POOL_CONFIG": "ModifyPoolConfig",
        "PSEUDO_LOAD_ACT_FUNC_SET": "PseudoLoadActFuncSet",
        "S1D2_SORT": "S1D2Sort",
        "S1S2D2_AM": "S1S2D2Am",
        "S2D2_AC": "S2D2Ac",
        "S2D2_ADDR": "S2D2Addr",
        "S2D2_RS": "S2D2Rs",
        "S2D2_TS_AS": "S2D2TsAs",
        "S2S2D2_STT": "S2S2D2Stt",
        "S2_BN": "S2Bn",
        "S3D3_AC": "S3D3Ac",
        "S3D3_AQ": "S3D3Aq",
        "S3D3_COLLECTIVE": "S3D3Collective",
        "S3D3_CP_PRED_SCALAR": "S3D3CpPredScalar",
        "S3D3_MM": "S3D3Mm",
        "S3D3_NONZERO_WITH_COUNT": "S3D3NonzeroWithCount",
        "S3D3_SEQ_BOUNDS": "S3D3SeqBounds",
        "S3D3_TENS_DEQUANT": "S3D3TensDequant",
        "S3D3_TS": "S3D3Ts",
        "S3D3_TS_SELECT": "S3D3TsSelect",
        "S3S3D3_TT": "S3S3D3Tt",
        "S4D2_BN": "S4D2Bn",
        "S4D4_CR": "S4D4Cr",
        "S4D4_GT": "S4D4Gt",
        "S4D4_IC": "S4D4Ic",
        "S4D4_MR": "S4D4Mr",
        "S4D4_PL": "S4D4Pl",
        "S4D4_TR": "S4D4Tr",
        "S4D4_TSM": "S4D4Tsm",
        "S4_PB": "S4Pb",
    }
)
