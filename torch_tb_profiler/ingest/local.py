"""Ranks read by processes of this machine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from torch_tb_profiler.ingest.reading import Children, facts_of, read_rank
from torch_tb_profiler.ingest.runner import OnBytesRead, Outcome, Task, WorkerFact, WorkerProbe


class LocalRunner:
    """`processes` read at once. While a rank is written to the place, which may take as long as reading it, the next
    one is read: there are more threads than processes.
    """

    def __init__(self, processes: int) -> None:
        self._children = Children(processes)
        self._threads = ThreadPoolExecutor(2 * processes, thread_name_prefix="torch-profiler-ingest")

    def probe(self, check: WorkerProbe) -> list[WorkerFact]:
        return [facts_of(check)]

    def run(self, tasks: Iterable[Task], on_bytes: OnBytesRead) -> Iterator[Outcome]:
        def read(task: Task) -> Outcome:
            return read_rank(task, self._children, lambda reading: on_bytes(task.number, reading.bytes_done))

        under_way: list[Future[Outcome]] = [self._threads.submit(read, task) for task in tasks]
        for done in as_completed(under_way):
            yield done.result()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._children.close()
        self._threads.shutdown()
