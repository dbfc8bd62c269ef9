"""The recording that all views can be filled from; docs/recording.md says what each option is for."""

from __future__ import annotations

RECOMMENDED = """\
from torch.profiler import profile, schedule, tensorboard_trace_handler

with profile(
    schedule=schedule(wait=1, warmup=2, active=5, repeat=1),
    on_trace_ready=tensorboard_trace_handler("logs/first_run", worker_name="worker0", use_gzip=True),
    record_shapes=True,
    profile_memory=True,
    with_stack=True,
) as profiler:
    for batch in batches:
        train(batch)
        profiler.step()  # at the end of every iteration
"""
