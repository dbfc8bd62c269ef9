"""Train ResNet-50 on synthetic images on a GPU (CUDA or ROCm) and record it.

Record the plain run first, then one with an option, and compare the two runs:

    python examples/resnet_gpu.py --out logs/resnet50
    python examples/resnet_gpu.py --out logs/resnet50_amp --amp --channels-last
    python examples/resnet_gpu.py --out logs/resnet50_compile --compile
    python examples/resnet_gpu.py --out logs/resnet50_graphs --cuda-graphs

The network is written out in plain torch.nn, torchvision is not needed. On a machine without
a GPU the script says so and records a very small run on the CPU.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

CLASSES = 1000


class Bottleneck(nn.Module):
    """1x1, 3x3 and 1x1 convolution beside a shortcut."""

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = 4 * width
        self.body = nn.Sequential(
            *self.convolution(inputs, width, 1, 1),
            nn.ReLU(inplace=True),
            *self.convolution(width, width, 3, stride),
            nn.ReLU(inplace=True),
            *self.convolution(width, outputs, 1, 1),
        )
        self.shortcut = (
            nn.Identity()
            if stride == 1 and inputs == outputs
            else nn.Sequential(*self.convolution(inputs, outputs, 1, stride))
        )

    @staticmethod
    def convolution(inputs: int, outputs: int, kernel: int, stride: int) -> tuple[nn.Conv2d, nn.BatchNorm2d]:
        return (
            nn.Conv2d(inputs, outputs, kernel, stride=stride, padding=kernel // 2, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(features) + self.shortcut(features))


def resnet50() -> nn.Sequential:
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, stride=2, padding=1),
    ]
    inputs = 64
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride=2 if block == 0 and stage else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, CLASSES))


def graphed(step: Callable[[], torch.Tensor]) -> Callable[[], torch.Tensor]:
    """Record one whole training step as a CUDA graph; the result replays it."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def replay() -> torch.Tensor:
        graph.replay()
        return loss

    return replay


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="run folder to write the trace into")
    parser.add_argument("--steps", type=int, default=5, help="steps to record (default 5)")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--amp", action="store_true", help="compute in bfloat16 where it is safe")
    parser.add_argument("--channels-last", action="store_true", help="keep images in NHWC order")
    parser.add_argument("--compile", action="store_true", help="compile the model with torch.compile")
    parser.add_argument("--cuda-graphs", action="store_true", help="replay the whole step as one CUDA graph")
    parser.add_argument("--stacks", action="store_true", help="record Python stacks and modules (larger file)")
    arguments = parser.parse_args()

    if torch.cuda.is_available():  # also true on ROCm
        device = torch.device("cuda")
        activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
    else:
        print("No GPU found: recording a very small run on the CPU instead. It has no kernels to look at.")
        device = torch.device("cpu")
        activities = [ProfilerActivity.CPU]
        arguments.batch_size, arguments.image_size = 2, 64
        if arguments.cuda_graphs:
            print("--cuda-graphs needs a GPU and is left out.")
            arguments.cuda_graphs = False

    torch.manual_seed(0)
    layout = torch.channels_last if arguments.channels_last else torch.contiguous_format
    model = resnet50().to(device, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    forward = torch.compile(model) if arguments.compile else model
    size = arguments.image_size
    host_images = torch.randn(arguments.batch_size, 3, size, size).to(memory_format=layout)
    if device.type == "cuda":
        host_images = host_images.pin_memory()
    images = torch.empty_like(host_images, device=device)
    labels = torch.randint(CLASSES, (arguments.batch_size,), device=device)

    def step() -> torch.Tensor:
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=arguments.amp):
            loss = nn.functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        return loss.detach()

    images.copy_(host_images)
    for _ in range(2):  # compile and choose algorithms before the recording
        step()
    train = graphed(step) if arguments.cuda_graphs else step

    wait, warmup = 1, 2
    with profile(
        activities=activities,
        schedule=schedule(wait=wait, warmup=warmup, active=arguments.steps, repeat=1),
        on_trace_ready=tensorboard_trace_handler(arguments.out, worker_name="worker0", use_gzip=True),
        record_shapes=True,
        profile_memory=True,
        with_stack=arguments.stacks,
        with_modules=arguments.stacks,
    ) as profiler:
        for _ in range(wait + warmup + arguments.steps):
            images.copy_(host_images, non_blocking=True)
            loss = train()
            profiler.step()
    print(f"loss {loss.item():.3f}; trace written to {arguments.out}")
    print(f"Open it: torch-tb-profiler serve {arguments.out} --open    (or tensorboard --logdir {arguments.out})")


if __name__ == "__main__":
    main()
