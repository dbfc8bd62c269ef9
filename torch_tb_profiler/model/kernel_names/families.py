r"""The families of kernels, in the order in which a name is tried: the first that matches decides.

Helpers stand before what they help. A name that no family matches is unknown, never "no". Patterns are looked for in
the plain name (`plain.plain_name`), so that `^` is where the function's own name begins; one with `\w*$` matches
kernels of Triton, whose names are one identifier.
"""

from __future__ import annotations

from torch_tb_profiler.model.kernel_names.family import (
    NO,
    OPEN,
    YES,
    FirstMatch,
    KernelFamily,
    KernelKind,
    cached_by_name,
    of_kind,
)
from torch_tb_profiler.model.kernel_names.matmuls import ATTENTION, CONVOLUTION, GEMM, MIXTURE_OF_EXPERTS
from torch_tb_profiler.model.kernel_names.plain import plain_name

_COMMUNICATION = (
    of_kind(KernelKind.COMMUNICATION, "RCCL", NO, r"(?i:rccl)"),  # most kernels of RCCL are named like NCCL's
    of_kind(KernelKind.COMMUNICATION, "DeepEP", NO, r"(?i:deep_ep)"),
    of_kind(KernelKind.COMMUNICATION, "mori", NO, r"Ep(?:Dispatch|Combine)\w*Kernel"),
    of_kind(KernelKind.COMMUNICATION, "pplx", NO, r"pplx::"),
    of_kind(KernelKind.COMMUNICATION, "TensorRT-LLM MoE", NO, r"(?i:moeAllToAll) moe_comm:: moeA2A"),
    of_kind(KernelKind.COMMUNICATION, "MSCCL++", NO, r"(?i:mscclpp) (?i:mscclKernel)"),
    of_kind(KernelKind.COMMUNICATION, "NVSHMEM", NO, r"(?i:nvshmem)"),
    of_kind(KernelKind.COMMUNICATION, "rocSHMEM", NO, r"(?i:rocshmem)"),
    of_kind(KernelKind.COMMUNICATION, "iSHMEM", NO, r"ishmem"),
    of_kind(KernelKind.COMMUNICATION, "NCCL", NO, r"(?i:nccl(?:Dev|Symk?)*Kernel) ^(?i:nccl) (?i:_nccl)"),
    of_kind(KernelKind.COMMUNICATION, "oneCCL", NO, r"(?i:oneccl) (?i:(?<![a-z])ccl_)"),
    of_kind(KernelKind.COMMUNICATION, "HCCL", NO, r"(?i:hccl) ^(?i:hcom_)"),
    of_kind(
        KernelKind.COMMUNICATION,
        "TensorRT-LLM, FlashInfer, AITER",
        NO,
        r"allreduce_fusion_kernel (?i:lamport) (?:one|two)shotAllreduceFusion local_device_load_rmsnorm",
        also=KernelKind.NORM,
    ),
    of_kind(KernelKind.COMMUNICATION, "Transformer Engine userbuffers", NO, r"userbuffers_"),
    of_kind(
        KernelKind.COMMUNICATION,
        "custom",  # of PyTorch's symmetric memory, vLLM, SGLang and AITER
        NO,
        r"""(?i:multimem_(?:one_shot_)?all_) (?i:(?:one|two)_?shot_all_?reduce) (?i:all_?reduce_(?:one|two)_?shot)
        symm_mem.*barrier_kernel (?i:cross_device_reduce) reduce_scatter_cross_device
        allreduce_prototype_(?:one|two)shot""",
    ),
)

_COMPILED = (
    # Names of what was fused follow, of products too: `triton_poi_fused_addmm_…` is none.
    of_kind(KernelKind.POINTWISE, "Inductor", NO, r"^triton_poi_"),
    of_kind(KernelKind.REDUCTION, "Inductor", NO, r"^triton_(?:red|per|spl|split_scan|mix)_"),
    of_kind(KernelKind.OPTIMIZER, "Inductor", NO, r"^triton_for_"),  # horizontal fusion: `foreach` operators
    of_kind(KernelKind.ATTENTION, "Inductor", YES, r"^triton_(?:tem_\w*)?flex_"),
    of_kind(KernelKind.CONV, "Inductor", YES, r"^triton_tem_fused_\w*convolution"),
    of_kind(KernelKind.GEMM, "Inductor", YES, r"^triton_(?:tem|mm|bmm|addmm)(?:_|$)"),
    of_kind(KernelKind.COMPUTE, "Inductor", OPEN, r"^triton__?\d"),  # of 2022-23: the name says nothing
)

_QUANTIZE = (
    of_kind(KernelKind.NORM, "AITER", NO, r"add_rmsnorm_quant rmsnorm\w*quant", also=KernelKind.QUANTIZE),
    of_kind(
        KernelKind.QUANTIZE,
        "FBGEMM",
        NO,
        r"_(?:compute_)?FP8_quantize _FP8rowwise_to_float _get_FP8_qparam _float_to_bfloat16 quantize_\w*cuda_kernel",
    ),
    of_kind(
        KernelKind.QUANTIZE,
        "vLLM, SGLang, TensorRT-LLM",
        NO,
        r"""quantize_with_block_size scaled_fp8_quant per_token_(?:group_)?quant dynamic_per_token _quant_kernel
        cvt_fp(?:16|8) quant_fp4 dequantize_ sage_quant dynamic_mxfp4_quant""",
    ),
)

_MODEL_PARTS = (
    of_kind(
        KernelKind.EMBEDDING,
        "FBGEMM",
        NO,
        r"""split_embedding dense_embedding ^fbgemm_gpu:: bounds_check_indices linearize_index permute_pooled_embs
        recat_copy ssd_embedding to_dense_representation compute_cuda_kernel""",
    ),
    of_kind(
        KernelKind.EMBEDDING,
        "PyTorch",
        NO,
        r"""(?i:embedding_?(?:backward|bag|dense)) compute_grad_weight sum_and_scatter krn_partial
        num_of_partial_segments""",
    ),
    of_kind(KernelKind.NORM, "PyTorch, cuDNN, MIOpen", NO, r"(?i:batch_?norm) (?i:bn_(?:fw|bw)_)"),
    of_kind(
        KernelKind.NORM,
        "",
        NO,
        r"""(?i:layer_?norm) (?i:rms_?norm) (?i:group_?norm) (?i:lpnorm)(?!_cleanup) RowwiseMoments ComputeFusedParams
        cuCompute(?:Part)?Grad(?:GammaBeta|Input) GammaBetaBackward""",
    ),
    of_kind(KernelKind.SOFTMAX, "PyTorch", NO, r"(?i:softmax)"),
    of_kind(KernelKind.LOSS, "PyTorch", NO, r"(?i:nll_loss) (?i:ClassNLL) (?i:cross_entropy) (?i:mse_)"),
    of_kind(
        KernelKind.OPTIMIZER,
        "PyTorch, apex",
        NO,
        r"multi_tensor_apply Adam(?:W)?Functor fused_adam FusedOptimizer sgd_kernel lamb_",
    ),
    of_kind(KernelKind.ROTARY, "vLLM, FlashInfer", NO, r"(?i:rotary) RopeQuantize _rope_ BatchQKApplyRotary"),
    of_kind(
        KernelKind.ACTIVATION,
        "vLLM, SGLang, AITER",
        NO,
        r"act_and_mul silu_and_mul gelu_and_mul swiglu(?!_) doActivationKernel",
    ),
    of_kind(
        KernelKind.SAMPLER,
        "FlashInfer, PyTorch, SGLang",
        NO,
        r"""(?i:TopKTopP) (?i:SamplingFrom) (?i:gatherTopK) radixFindKthValues (?i:topK\w*Decode) (?i:multinomial)
        (?i:argmax) resolve_future_token apply_\w*penalt (?:clamp|compute)_position""",
    ),
)

_GENERAL = (
    of_kind(
        KernelKind.SORT,
        "CUB, rocPRIM, Thrust",
        NO,
        r"""^[\w:]*cub:: ^[\w:]*rocprim ^[\w:]*thrust:: [Rr]adixSort bitonicSort onesweep lookback_scan partition_kernel
        kernel_scan_(?:inner|outer)""",
    ),
    of_kind(KernelKind.POOLING, "PyTorch", NO, r"(?i:pool)"),
    of_kind(KernelKind.IMAGE, "PyTorch, torchvision", NO, r"upsample grid_sampler nms_kernel roi_align"),
    of_kind(KernelKind.RANDOM, "PyTorch", NO, r"dropout distribution_(?:nullary|elementwise) (?i:philox)"),
    of_kind(KernelKind.CONCATENATE, "PyTorch", NO, r"CatArrayBatchedCopy"),
    of_kind(
        KernelKind.COPY,
        "PyTorch, ROCm",
        NO,
        r"direct_copy_kernel (?:bfloat16|float8|float16)_copy copy_device_to_device __amd_rocclr_copy",
    ),
    of_kind(KernelKind.FILL, "PyTorch, ROCm", NO, r"FillFunctor __amd_rocclr_fill fill_kernel triu_tril"),
    of_kind(
        KernelKind.INDEX,
        "PyTorch",
        NO,
        r"""index_(?:elementwise|kernel|put) index(?:Select|Func) indexing_backward scatter gather masked_ _index_copy
        _put_ write_indices""",
    ),
    of_kind(KernelKind.REDUCTION, "PyTorch", NO, r"reduce_kernel ReduceOp lpnorm_cleanup"),
    of_kind(KernelKind.POINTWISE, "PyTorch", NO, r"elementwise_kernel elementwise_with_index transform_kernel"),
    of_kind(
        KernelKind.LINEAR_ALGEBRA,
        "cuSOLVER, cuBLAS, MAGMA",
        NO,
        r"getrf trsm laswp ipiv potrf geqrf syev trtri xxtrf create_pivot",
    ),
    of_kind(KernelKind.SPIN, "PyTorch", NO, r"spin_kernel"),
    of_kind(KernelKind.WAIT, "MTIA", NO, r"^event_(?:wait|record)$"),
    of_kind(KernelKind.COMPUTE, "MTIA", OPEN, r"^(?:pe_exe|merge|remote)$"),
    of_kind(KernelKind.COPY, "MTIA", NO, r"^dma_request$"),
    of_kind(KernelKind.POINTWISE, "PyTorch", NO, r"^at::native ^at::cuda"),
)

FAMILIES = (
    *_COMMUNICATION,
    *_COMPILED,
    *MIXTURE_OF_EXPERTS,
    *ATTENTION,
    *_QUANTIZE,
    *GEMM,
    *CONVOLUTION,
    *_MODEL_PARTS,
    *_GENERAL,
)


_PATTERNS = tuple((pattern, family) for family in FAMILIES for pattern in family.patterns)
_FIRST = FirstMatch(pattern for pattern, _ in _PATTERNS)


@cached_by_name
def family_of(name: str) -> KernelFamily | None:
    """Look up the family of a kernel by its name; None: unknown."""
    place = _FIRST(plain_name(name))
    return None if place is None else _PATTERNS[place][1]
