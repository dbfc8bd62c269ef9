"""Recorded `train.pt.trace.json.gz`, what torch's live memory profiler says of the same blocks, and its timelines.

    python record.py FOLDER    (torch 2.13 for the CPU)

`categories.json` has a row for each block that was allocated in the recording: Unix time in ns and bytes of its
allocation, and the category of its last version. The names are those of `torch.profiler._memory_profiler`.
"""

import gzip
import json
import sys
import tempfile
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, _memory_profiler, profile

folder = Path(sys.argv[1])
torch.manual_seed(0)
torch.set_num_threads(1)


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 4 * width)
        self.down = torch.nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


model = torch.nn.Sequential(Block(64), Block(64), torch.nn.Linear(64, 10))
optimizer = torch.optim.AdamW(model.parameters())
x, y = torch.randn(256, 64), torch.randint(0, 10, (256,))
with profile(activities=[ProfilerActivity.CPU], profile_memory=True, record_shapes=True, with_stack=True) as profiler:
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with tempfile.TemporaryDirectory() as scratch:
    whole = Path(scratch) / "trace.json"
    profiler.export_chrome_trace(str(whole))
    trace = json.loads(whole.read_text())
# Python calls are most of the file, and nothing here looks at them
trace["traceEvents"] = [each for each in trace["traceEvents"] if each.get("cat") != "python_function"]
trace["traceName"] = "train"
(folder / "train.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps(trace).encode(), mtime=0))
for ending in ("json", "raw.json.gz"):
    profiler.export_memory_timeline(str(folder / f"memory_timeline.{ending}"), device="cpu")

live = profiler._memory_profile()
blocks, alive = [], {}
for time, action, (key, version), size in live.timeline:
    category = live._categories.get(key, version) if isinstance(key, _memory_profiler.TensorKey) else None
    name = category.name if category else None
    place = getattr(getattr(key, "storage", None), "ptr", None)
    if action.name == "CREATE":
        alive[place] = [time, size, name]
        blocks.append(alive[place])
    elif place in alive:
        alive[place][2] = name if action.name == "INCREMENT_VERSION" else alive[place][2]
(folder / "categories.json").write_text(json.dumps(blocks))
