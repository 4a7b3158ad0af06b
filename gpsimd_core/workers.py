"""Kernels in threads, while the schedule goes on.

Turns, waits and updates happen in the schedule's order in the calling thread; only the work of a kernel is put aside.
Each thread takes its work in order, and a stream always goes to the same thread. Before a kernel is given to one, what
the others still have and could meet it is waited for; whatever is not put aside waits for everything. So a run gives
the same results with threads and without.
"""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from gpsimd_core.pipeline import execute
from gpsimd_core.step import Step
from gpsimd_core.stream import Segment, Stream
from gpsimd_core.values import CompiledKernel

if TYPE_CHECKING:
    from gpsimd_core.neuroncore import NeuronCore

__all__ = ["LARGE", "Workers", "meet"]

LARGE = 1 << 18
"""Bytes that an instruction must touch before it is worth a thread."""
MOST = 64
"""Kernels that are put aside before the first of them is waited for."""


@frozen(kw_only=True, eq=False)
class _Task:
    stream: Stream
    segment: Segment
    status: np.ndarray[Any, Any]
    thread: int
    future: Future[None]


class Workers:
    """Runs segments: large ones aside, the others at once.

    Args:
        core: whose memory they work on.
        count: most kernels at once; 1 runs everything at once in the calling thread.
    """

    def __init__(self, core: NeuronCore, count: int) -> None:
        self.core = core
        self.count = count if core.compiles else 1
        self.threads = [ThreadPoolExecutor(max_workers=1) for _ in range(self.count)] if self.count > 1 else []
        self.tasks: list[_Task] = []
        self._thread_of: dict[Stream, int] = {}

    def __call__(self, stream: Stream, segment: Segment) -> np.ndarray[Any, Any] | None:
        """Run a segment after everything that it could meet; its status, or None where it is put aside."""
        if not self.threads or not _worth(segment):
            self.join()
            return execute(self.core, segment.steps, segment.indices, segment.rows, stream.registers)
        step = segment.steps[0]
        thread = self._thread_of.setdefault(stream, len(self._thread_of) % self.count)
        for task in list(self.tasks):
            waits = task.thread != thread and meet(task.segment.steps[0], step)
            if waits or task.future.done() or len(self.tasks) > MOST:
                self._end(task)
        kernel = step.instruction.kernel
        assert isinstance(kernel, CompiledKernel)
        data, table = self.core.memory.data, self.core.machine.format_table
        status = np.zeros(1, np.uint8)
        run = self.core.compiled(kernel.run)
        work = self.threads[thread].submit(run, data, data, self.core.lanes, table, segment.rows, status)
        self.tasks.append(_Task(stream=stream, segment=segment, status=status, thread=thread, future=work))
        return None

    def join(self) -> None:
        """Wait for everything that was put aside."""
        for task in list(self.tasks):
            self._end(task)

    def close(self) -> None:
        """Wait, and give the threads back."""
        self.join()
        for thread in self.threads:
            thread.shutdown()

    def _end(self, task: _Task) -> None:
        task.future.result()
        self.tasks.remove(task)
        task.stream.note(task.segment, task.status)


def _worth(segment: Segment) -> bool:
    step = segment.steps[0]
    if not isinstance(step.instruction.kernel, CompiledKernel) or not step.fusible:
        return False
    return sum(p.channels * (p.high - p.low) for p in step.operands.values()) >= LARGE


def meet(one: Step, two: Step) -> bool:
    """Whether two steps must not run at once: a destination of one may touch an operand of the other, or both use the
    lane state of one engine."""
    shared = one.instruction.accumulator and two.instruction.accumulator
    if shared and one.engine.accumulators == two.engine.accumulators:
        return True
    return any(w.overlaps(p) for a, b in ((one, two), (two, one)) for w in a.written for p in b.places)
