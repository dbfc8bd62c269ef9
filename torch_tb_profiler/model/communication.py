"""Which host ranges and which kernels are communication. The tables below are the only place that knows names."""

from __future__ import annotations

import re

import numpy as np

from torch_tb_profiler.trace import Category, Trace
from torch_tb_profiler.trace.schema import Bool, Int32

#: record_function ranges around a collective, written by torch.distributed
HOST_NAME = re.compile(r"(?:nccl|gloo|mpi|ucc|xccl|hccl):")

#: kernel families of communication libraries
KERNEL_NAME = re.compile(
    r"nccl(?:Dev)?Kernel|^nccl|_nccl|rccl|oneccl|ccl_|hccl|nvshmem|deep_ep|mscclpp|cross_device_reduce|"
    r"all_?reduce_(?:one|two)_?shot|multimem_all_reduce",
    re.IGNORECASE,
)


def communication_rows(trace: Trace) -> Int32:
    """Rows of host annotations and operators that are a collective call, in file order."""
    events = trace.events
    host = np.flatnonzero(np.isin(events.category, (Category.USER_ANNOTATION, Category.OPERATOR)))
    named = trace.strings.where(HOST_NAME.match, np.unique(events.name[host]).tolist())
    return host[named[events.name[host]]].astype(np.int32)


def is_communication_work(trace: Trace) -> Bool:
    """Shape (device work,): kernels of a collective, by its arguments, else by the kernel's name."""
    events = trace.events
    work = trace.device_work
    has_arguments = np.zeros(len(events), dtype=np.bool_)
    has_arguments[trace.collectives.row] = True
    names = events.name[work.row]
    named = trace.strings.where(KERNEL_NAME.search, np.unique(names).tolist())
    is_kernel = events.category[work.row] == Category.KERNEL
    found: Bool = is_kernel & (has_arguments[work.row] | named[names])
    return found
