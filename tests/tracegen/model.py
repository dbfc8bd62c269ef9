"""What one training step of a decoder-only transformer does, as immutable trees of operators.

The trees are built once per configuration and walked once per step by the simulation.
"""

from __future__ import annotations

from typing import NamedTuple

from . import names
from .devices import Device, Kernel

Dims = tuple[int, ...]


class Copy(NamedTuple):
    """A copy, or a memset when ``kind`` is None."""

    kind: str | None
    bytes: int
    pageable: bool = False


class Op(NamedTuple):
    name: str
    inputs: tuple[Dims, ...] = ()
    children: tuple[Op, ...] = ()
    work: Kernel | Copy | None = None
    allocates: int = 0  # device bytes of the result
    backward: str = ""  # name of the autograd node; empty: no gradient
    gradient: tuple[Op, ...] = ()  # operators the autograd node runs


class Module(NamedTuple):
    """An nn.Module call: frames in the Python stack around its members."""

    name: str
    source: str  # "file(line): function" of its forward
    members: tuple[Module | Op, ...]


class Shape(NamedTuple):
    batch: int = 8
    length: int = 1024
    hidden: int = 1024
    heads: int = 16
    vocabulary: int = 32000


class Program(NamedTuple):
    forward: Module
    loss: Op
    block_parameters: int
    other_parameters: int
    optimizer: Op
    input_copy: Op
    metric: Kernel  # started by a compiled extension, outside any operator


def build(device: Device, shape: Shape, layers: int) -> Program:
    batch, length, hidden, heads, vocabulary = shape
    tokens = batch * length
    block_parameters, other_parameters = 12 * hidden * hidden, 2 * vocabulary * hidden

    def elementwise(functor: str, elements: int, bytes_each: float) -> Kernel:
        return device.memory_bound_kernel(names.ELEMENTWISE.replace("{f}", functor), elements, bytes_each)

    def empty(dims: Dims) -> Op:
        elements = 1
        for extent in dims:
            elements *= extent
        return Op("aten::empty", (dims,), allocates=2 * elements)

    def transpose(dims: Dims) -> Op:
        return Op("aten::t", (dims,), (Op("aten::transpose", (dims,), (Op("aten::as_strided", (dims,)),)),))

    def matmul(layout: str, m: int, n: int, k: int) -> Op:
        work = device.gemm_kernel(layout, m, n, k)
        return Op("aten::mm", ((m, k), (k, n)), work=work, allocates=2 * m * n)

    def linear(outputs: int, inputs: int, source: Dims, bias: bool = True) -> Op:
        weight: Dims = (outputs, inputs)
        product = Op(
            "aten::addmm" if bias else "aten::mm",
            ((outputs,), (tokens, inputs), (inputs, outputs)) if bias else ((tokens, inputs), (inputs, outputs)),
            work=device.gemm_kernel("tn", tokens, outputs, inputs),
            allocates=2 * tokens * outputs,
            backward="AddmmBackward0" if bias else "MmBackward0",
            gradient=(
                transpose(weight),
                matmul("nn", tokens, inputs, outputs),
                transpose((tokens, outputs)),
                matmul("nt", outputs, inputs, tokens),
                *((column_sum(outputs),) if bias else ()),
            ),
        )
        return Op("aten::linear", (source, weight), (transpose(weight), product))

    def column_sum(columns: int) -> Op:
        return Op(
            "aten::sum",
            ((tokens, columns),),
            work=device.memory_bound_kernel(names.COLUMN_SUM, tokens * columns, 2, 44),
        )

    def layer_norm() -> Op:
        native = Op(
            "aten::native_layer_norm",
            (hidden_dims, (hidden,), (hidden,)),
            (empty(hidden_dims), empty((tokens,)), empty((tokens,))),
            device.memory_bound_kernel(names.LAYER_NORM, tokens * hidden, 4, 40),
            backward="NativeLayerNormBackward0",
            gradient=(
                Op(
                    "aten::native_layer_norm_backward",
                    (hidden_dims, hidden_dims),
                    (empty(hidden_dims),),
                    device.memory_bound_kernel(names.LAYER_NORM_BACKWARD, tokens * hidden, 6, 40),
                ),
            ),
        )
        return Op("aten::layer_norm", (hidden_dims, (hidden,)), (native,))

    def add() -> Op:
        return Op(
            "aten::add",
            (hidden_dims, hidden_dims),
            work=elementwise("CUDAFunctor_add<{T}>", tokens * hidden, 6),
            allocates=2 * tokens * hidden,
            backward="AddBackward0",
        )

    def attention() -> Op:
        dims: Dims = (batch, heads, length, hidden // heads)
        kind = "efficient" if device.key == "v100" else "flash"
        forward = Op(
            f"aten::_{kind}_attention_forward",
            (dims, dims, dims),
            (empty(dims), empty((batch, heads, length))),
            device.attention_kernel(batch, heads, length, hidden // heads),
        )
        backward = Op(
            f"aten::_{kind}_attention_backward",
            (dims,) * 5,
            (empty(dims), empty(dims), empty(dims)),
            device.attention_kernel(batch, heads, length, hidden // heads, backward=True),
        )
        inner = Op(
            f"aten::_scaled_dot_product_{kind}_attention",
            (dims, dims, dims),
            (Op("aten::transpose", (dims,), (Op("aten::as_strided", (dims,)),)), forward),
            backward=f"ScaledDotProduct{kind.capitalize()}AttentionBackward0",
            gradient=(Op(f"aten::_scaled_dot_product_{kind}_attention_backward", (dims,) * 5, (backward,)),),
        )
        return Op("aten::scaled_dot_product_attention", (dims, dims, dims), (inner,))

    def activation() -> Op:
        dims: Dims = (batch, length, 4 * hidden)
        elements = tokens * 4 * hidden
        return Op(
            "aten::gelu",
            (dims,),
            work=elementwise(names.GELU, elements, 4),
            allocates=2 * elements,
            backward="GeluBackward0",
            gradient=(
                Op(
                    "aten::gelu_backward",
                    (dims, dims),
                    work=elementwise(names.GELU_BACKWARD, elements, 6),
                    allocates=2 * elements,
                ),
            ),
        )

    def embedding() -> Op:
        table: Dims = (vocabulary, hidden)
        zeros = Op(
            "aten::zeros",
            ((),),
            (empty(table), Op("aten::zero_", (table,), work=Copy(None, 2 * vocabulary * hidden))),
        )
        index = Op(
            "aten::index_select",
            (table, (), (tokens,)),
            (empty((tokens, hidden)),),
            device.memory_bound_kernel(names.GATHER, tokens * hidden, 4),
        )
        return Op(
            "aten::embedding",
            (table, (batch, length)),
            (index,),
            backward="EmbeddingBackward0",
            gradient=(
                Op(
                    "aten::embedding_dense_backward",
                    (hidden_dims, (batch, length)),
                    (zeros,),
                    device.memory_bound_kernel(names.SCATTER, tokens * hidden, 12),
                ),
            ),
        )

    def cross_entropy() -> Op:
        dims: Dims = (tokens, vocabulary)
        elements = tokens * vocabulary
        log_softmax = Op(
            "aten::_log_softmax",
            (dims,),
            work=device.memory_bound_kernel(names.SOFTMAX.replace("{way}", "Forward"), elements, 4, 40),
            allocates=2 * elements,
            backward="LogSoftmaxBackward0",
            gradient=(
                Op(
                    "aten::_log_softmax_backward_data",
                    (dims, dims),
                    work=device.memory_bound_kernel(names.SOFTMAX.replace("{way}", "Backward"), elements, 6, 40),
                    allocates=2 * elements,
                ),
            ),
        )
        loss = Op(
            "aten::nll_loss_forward",
            (dims, (tokens,)),
            work=device.memory_bound_kernel(names.NLL_LOSS, tokens, 16),
            backward="NllLossBackward0",
            gradient=(
                Op(
                    "aten::nll_loss_backward",
                    (dims,),
                    work=elementwise("FillFunctor<{T}>", elements, 2),
                    allocates=2 * elements,
                ),
            ),
        )
        return Op(
            "aten::cross_entropy_loss",
            (dims, (tokens,)),
            (Op("aten::log_softmax", (dims,), (log_softmax,)), loss),
        )

    hidden_dims: Dims = (batch, length, hidden)
    wide_dims: Dims = (batch, length, 4 * hidden)

    def linear_module(index: int, outputs: int, inputs: int, source: Dims) -> Module:
        return Module(f"Linear_{index}", "torch/nn/modules/linear.py(134): forward", (linear(outputs, inputs, source),))

    def norm_module(index: int) -> Module:
        return Module(f"LayerNorm_{index}", "torch/nn/modules/normalization.py(229): forward", (layer_norm(),))

    def block(index: int) -> Module:
        qkv = linear_module(4 * index, 3 * hidden, hidden, hidden_dims)
        split = Op(
            "aten::split",
            ((batch, length, 3 * hidden),),
            (Op("aten::narrow", ((batch, length, 3 * hidden),)),),
        )
        project = linear_module(4 * index + 1, hidden, hidden, hidden_dims)
        up = linear_module(4 * index + 2, 4 * hidden, hidden, hidden_dims)
        down = linear_module(4 * index + 3, hidden, 4 * hidden, wide_dims)
        gelu = Module(f"GELU_{index}", "torch/nn/modules/activation.py(745): forward", (activation(),))
        return Module(
            f"Block_{index}",
            "model.py(68): forward",
            (
                norm_module(2 * index),
                Module(f"Attention_{index}", "model.py(31): forward", (qkv, split, attention(), project)),
                add(),
                norm_module(2 * index + 1),
                Module(f"FeedForward_{index}", "model.py(49): forward", (up, gelu, down)),
                add(),
            ),
        )

    forward = Module(
        "Transformer_0",
        "model.py(92): forward",
        (
            Module("Embedding_0", "torch/nn/modules/sparse.py(191): forward", (embedding(),)),
            *(block(index) for index in range(layers)),
            norm_module(2 * layers),
            Module(
                f"Linear_{4 * layers}",
                "torch/nn/modules/linear.py(134): forward",
                (linear(vocabulary, hidden, hidden_dims, bias=False),),
            ),
        ),
    )
    parameters = layers * block_parameters + other_parameters
    step = Op("aten::_fused_adamw_", work=device.memory_bound_kernel(names.FUSED_ADAM, parameters, 14, 48))
    ids: Dims = (batch, length)
    copy = Op("aten::copy_", (ids, ids), work=Copy("HtoD", 8 * batch * length, pageable=True))
    to = Op("aten::to", (ids,), (Op("aten::_to_copy", (ids,), (Op("aten::empty_strided", (ids,)), copy)),))
    metric = device.memory_bound_kernel("token_histogram_kernel(long const*, int*, int)", tokens, 8, 18)
    return Program(forward, cross_entropy(), block_parameters, other_parameters, step, to, metric)
