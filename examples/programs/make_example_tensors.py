"""Make the tensors that `gpsimd example` ships: one head of causal attention over a padded sequence.

python make_example_tensors.py DIR
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

QUERIES = KEYS = 128
LENGTH = 120  # positions beyond it are padding
DEPTH = 64


def tensors() -> dict[str, np.ndarray]:
    """Name to array: mask uint8, scores and kept float32, each (128, 128)."""
    rng = np.random.default_rng(2024)
    queries = rng.standard_normal((QUERIES, DEPTH), np.float32)
    keys = rng.standard_normal((KEYS, DEPTH), np.float32)
    scores = (queries @ keys.T / np.float32(np.sqrt(DEPTH))).astype(np.float32)
    i, j = np.indices((QUERIES, KEYS))
    mask = ((j <= i) & (i < LENGTH) & (j < LENGTH)).astype(np.uint8)
    scores[5, 2] = np.nan  # kept, and no number: the maximum passes over it
    scores[9, 100] = np.inf  # masked out: it must not win
    return {"mask": mask, "scores": scores, "kept": np.full((QUERIES, KEYS), -np.inf, np.float32)}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, array in tensors().items():
        np.save(folder / f"{name}.npy", array)
