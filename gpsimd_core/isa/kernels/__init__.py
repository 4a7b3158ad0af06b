"""Compiled kernels: loops over plan rows, in place, over bit patterns.

Every kernel is one lane function `run(memory, source, lanes, formats, rows, status)` and one `row(step)` that turns a
planned step into integers; see `gpsimd_core.values.CompiledKernel`.
"""
