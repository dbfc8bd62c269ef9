"""More programs that infer and were not made for the rules, one fault each, and healthy ones."""

# What is inside of what is seen by the indentation.
from __future__ import annotations

from tests.held_out.inference import decode_layers, sample, serving
from tests.held_out.layers import block, linear, pointwise, product
from tests.held_out.machine import COMPUTE, Machine
from tests.held_out.parts import item, move


def sampled_on_host(s: Machine) -> None:
    """A server of vLLM's kind whose sampler looks at each request: seven values are read for a token."""

    def body(_: int) -> None:
        with s.frame("worker/gpu_model_runner.py(2100): execute_model"):
            with s.graph():
                decode_layers(s, 16, 24, 2048)
            with s.frame("sample/sampler.py(60): forward"):
                for _ in range(6 if s.faulty else 0):
                    pointwise(s, "aten::div", 16 * 32000, "bf16")
                    item(s, line="sample/penalties.py(18): apply")
                    s.host(150)
            sample(s, 16)

    serving(s, body, 8)


def stalled_prefill(s: Machine) -> None:
    """A server of SGLang's kind: before each third batch its tree of prefixes is searched on the CPU."""

    def body(number: int) -> None:
        with s.frame("managers/scheduler.py(410): get_next_batch_to_run"):
            if s.faulty and number % 3 == 0:
                with s.frame("mem_cache/radix_cache.py(120): match_prefix"):
                    s.idle(21_000)
            s.idle(150)
        with s.frame("managers/scheduler.py(600): run_batch"):
            with s.graph():
                decode_layers(s, 16, 24, 2048)
            sample(s, 16)

    serving(s, body, 9)


def validation_reads(s: Machine) -> None:
    """A validation loop that reads loss and accuracy of each batch."""

    def body(_: int) -> None:
        with s.frame("evaluate.py(30): validate"):
            move(s, 400_000)
            for _ in range(8):
                block(s, 1536, 1024, 16, "bf16", train=False)
            if s.faulty:
                with s.frame("evaluate.py(36): validate"):
                    item(s, 3, line="evaluate.py(36): validate")

    serving(s, body, 8)


def experts_in_turn(s: Machine) -> None:
    """Mixture of experts: a loop over eight experts of unequal load, each finds its tokens by `where`."""

    def body(_: int) -> None:
        with s.frame("modeling_mixtral.py(90): forward"):
            move(s, 32_000)
            for _ in range(8):
                block(s, 2048, 1024, 16, "bf16", train=False)
                linear(s, 2048, 8, 1024, "bf16", False, False)
                with s.op("aten::topk", [[2048, 8]]):
                    s.kernel("void at::native::sbtopk::gatherTopK<float, unsigned int, 2, false>(...)", 8)
                if not s.faulty:
                    with s.op("aten::_grouped_mm", [[4096, 1024], [8, 1024, 2048]]):
                        s.kernel("cutlass_80_tensorop_bf16_s16816gemm_grouped_bf16_128x128", 180)
                    continue
                for load in (900, 700, 300, 60, 40, 30, 12, 6):
                    with s.op("aten::where", [[2, 2048]]), s.op("aten::nonzero", [[2, 2048]]):
                        s.kernel("void at_cuda_detail::cub::DeviceSelectSweepKernel<...>(...)", 3)
                        s.copy("Device", "Pinned", 8)
                        s.synchronize("cudaStreamSynchronize", COMPUTE)
                    with s.op("aten::index", [[2048, 1024], [load]]):
                        s.kernel("void at::native::index_elementwise_kernel<128, 4, ...>(...)", 4)
                    product(s, load, 2048, 1024, "bf16")
                    pointwise(s, "aten::silu", load * 2048, "bf16")
                    product(s, load, 1024, 2048, "bf16")
                    with s.op("aten::index_add_", [[2048, 1024], [], [load], [load, 1024]]):
                        s.kernel("void at::native::indexFuncLargeIndex<c10::BFloat16, long, ...>(...)", 5)

    serving(s, body)


def healthy_batches(s: Machine) -> None:
    """Batches of inference; results leave in pinned memory, while the next is computed."""

    def body(_: int) -> None:
        with s.frame("predict.py(30): predict"):
            move(s, 1_000_000)
            for _ in range(12):
                block(s, 8192, 1024, 16, "bf16", train=False)
            with s.op("aten::copy_", [[100_000], [100_000]]):
                s.copy("Device", "Pinned", 400_000)

    serving(s, body, 8)


def healthy_server(s: Machine) -> None:
    """Decoding as one graph, a token read a step, a quick scheduler."""

    def body(_: int) -> None:
        with s.frame("engine/core.py(310): step"):
            s.idle(120)
            with s.graph():
                decode_layers(s, 16, 32, 4096)
            sample(s, 16)

    serving(s, body, 8)
