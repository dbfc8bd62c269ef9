"""Train a small CNN from a DataLoader and record what the loader costs.

Every profiler option that a view can use is on: shapes, memory, Python stacks, modules.
Run it twice and compare the two runs:

    python examples/cnn_dataloader.py --out logs/cnn_workers0 --workers 0
    python examples/cnn_dataloader.py --out logs/cnn_workers2 --workers 2
    tensorboard --logdir logs

With no workers the training process makes every image itself and the model waits; with two
workers the images are made while the model trains.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import torch
from torch import nn
from torch._C._profiler import _ExperimentalConfig
from torch.profiler import ProfilerActivity, profile, record_function, schedule, tensorboard_trace_handler
from torch.utils.data import DataLoader, Dataset

CLASSES = 10


class SyntheticImages(Dataset[tuple[torch.Tensor, int]]):
    """Images of one grating per class, built and augmented on request like decoded photos."""

    def __init__(self, length: int, size: int) -> None:
        self.length = length
        axis = torch.linspace(-1, 1, 4 * size)
        self.y, self.x = torch.meshgrid(axis, axis, indexing="ij")
        self.size = size

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
        label = index % CLASSES
        random = torch.Generator().manual_seed(index)
        angle = torch.tensor(label * torch.pi / CLASSES)
        grating = torch.sin(20 * (self.x * angle.cos() + self.y * angle.sin()))
        noise = torch.randn(3, *self.x.shape, generator=random)
        photo = (grating + 0.5 * noise).clamp(-2, 2)
        small = nn.functional.interpolate(photo[None], size=self.size, mode="bilinear", antialias=True)[0]
        if torch.rand((), generator=random) < 0.5:
            small = small.flip(-1)
        return (small - small.mean()) / small.std(), label


class SmallCNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            self.block(3, 16),
            self.block(16, 32),
            self.block(32, 64),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
        )
        self.classifier = nn.Linear(64, CLASSES)

    @staticmethod
    def block(inputs: int, outputs: int) -> nn.Sequential:
        return nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(images))


def batches(
    loader: DataLoader[tuple[torch.Tensor, torch.Tensor]],
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    while True:
        yield from loader


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="run folder to write the trace into")
    parser.add_argument("--workers", type=int, default=0, help="DataLoader worker processes (default 0)")
    parser.add_argument("--steps", type=int, default=6, help="steps to record (default 6)")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--image-size", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of the training process (default 1)")
    parser.add_argument("--worker-name", default="worker0", help="first part of the file name (default worker0)")
    parser.add_argument("--call-stacks", action="store_true", help="also write a 'Call stack' into every operator")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)  # the other cores are for the loader's workers
    torch.manual_seed(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    wait, warmup = 1, 2
    loader = DataLoader(
        SyntheticImages((wait + warmup + arguments.steps + 8) * arguments.batch_size, arguments.image_size),
        batch_size=arguments.batch_size,
        num_workers=arguments.workers,
        pin_memory=device.type == "cuda",
    )
    model = SmallCNN().to(device)
    loss_function = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    data = batches(loader)

    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA] if device.type == "cuda" else [ProfilerActivity.CPU],
        schedule=schedule(wait=wait, warmup=warmup, active=arguments.steps, repeat=1),
        on_trace_ready=tensorboard_trace_handler(arguments.out, worker_name=arguments.worker_name, use_gzip=True),
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
        with_modules=True,
        experimental_config=_ExperimentalConfig(verbose=arguments.call_stacks),
    ) as profiler:
        for _ in range(wait + warmup + arguments.steps):
            images, labels = next(data)
            images = images.to(device, non_blocking=True)
            labels = labels.to(device, non_blocking=True)
            with record_function("forward"):
                loss = loss_function(model(images), labels)
            optimizer.zero_grad()
            with record_function("backward"):
                loss.backward()
            optimizer.step()
            profiler.step()
    print(f"loss {loss.item():.3f}; trace written to {arguments.out}")
    print(f"Open it: torch-tb-profiler serve {arguments.out} --open    (or tensorboard --logdir {arguments.out})")


if __name__ == "__main__":
    main()
