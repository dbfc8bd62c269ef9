"""Train on two CPU processes with DistributedDataParallel over gloo, one trace per rank.

    python examples/ddp_gloo.py --out logs/ddp_gloo

The gradients are exchanged in several small buckets, so one can see the all-reduce of a bucket
run while the backward pass computes the next. With `--slow-rank 1` that rank does extra work in
each step: its own trace shows the work, the trace of the other rank shows the wait.
"""

from __future__ import annotations

import argparse
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler

WIDTH = 512


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def train(rank: int, port: int, arguments: argparse.Namespace) -> None:
    """The work of one rank."""
    torch.set_num_threads(1)
    torch.manual_seed(rank)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=arguments.ranks)
    layers = [layer for _ in range(arguments.layers) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU())]
    model = DistributedDataParallel(nn.Sequential(*layers, nn.Linear(WIDTH, 10)), bucket_cap_mb=2)
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    wait, warmup = 1, 2

    with profile(
        activities=[ProfilerActivity.CPU],
        schedule=schedule(wait=wait, warmup=warmup, active=arguments.steps, repeat=1),
        on_trace_ready=tensorboard_trace_handler(arguments.out, worker_name=f"rank{rank}", use_gzip=True),
        record_shapes=True,
        profile_memory=True,
        with_stack=arguments.stacks,
    ) as profiler:
        for _ in range(wait + warmup + arguments.steps):
            inputs = torch.randn(arguments.batch_size, WIDTH)
            labels = torch.randint(10, (arguments.batch_size,))
            if rank == arguments.slow_rank:
                with record_function("extra work of the slow rank"):
                    for _ in range(10):
                        inputs = torch.tanh(inputs @ torch.eye(WIDTH))
            optimizer.zero_grad()
            loss_function(model(inputs), labels).backward()
            optimizer.step()
            profiler.step()
    dist.destroy_process_group()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="run folder; every rank writes its file there")
    parser.add_argument("--ranks", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--steps", type=int, default=5, help="steps to record (default 5)")
    parser.add_argument("--layers", type=int, default=6, help="hidden layers (default 6)")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--slow-rank", type=int, help="rank that does extra work in every step")
    parser.add_argument("--stacks", action="store_true", help="record Python stacks (much larger files)")
    arguments = parser.parse_args()
    mp.spawn(train, args=(free_port(), arguments), nprocs=arguments.ranks)
    print(f"{arguments.ranks} traces written to {arguments.out}")
    print(f"Open it: torch-tb-profiler serve {arguments.out} --open    (or tensorboard --logdir {arguments.out})")


if __name__ == "__main__":
    main()
