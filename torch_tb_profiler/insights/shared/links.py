"""Pages that several rules send to."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Link

ALL_TO_ALL = Link(
    "all_to_all",
    "all_to_all_single",
    "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_to_all_single",
)
COMPILE_TUTORIAL = Link(
    "compile_tutorial",
    "torch.compile",
    "https://docs.pytorch.org/tutorials/intermediate/torch_compile_tutorial.html",
)
TUNING_GUIDE = Link(
    "tuning_guide",
    "Performance tuning guide",
    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html",
)
NCCL_TROUBLESHOOTING = Link(
    "nccl_troubleshooting",
    "Troubleshooting NCCL",
    "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
)
DDP_UNEVEN = Link(
    "ddp_uneven",
    "Uneven work of ranks, from the tutorial of DDP",
    "https://docs.pytorch.org/tutorials/intermediate/ddp_tutorial.html#skewed-processing-speeds",
)
PINNED_MEMORY = Link(
    "pinned_memory",
    "Pinned memory and non_blocking",
    "https://docs.pytorch.org/tutorials/intermediate/pinmem_nonblock.html",
)
