r"""The families of kernels, in the order in which a name is tried: the first that matches decides.

Helpers stand before what they help. A name that no family matches is unknown, never "no". Patterns are looked for in
the plain name (`plain.plain_name`), so that `^` is where the function's own name begins; one with `\w*$` matches
kernels of Triton, whose names are one identifier.
"""

from __future__ import annotations

from functools import lru_cache

from torch_tb_profiler.model.kernel_names.family import Family, Kind
from torch_tb_profiler.model.kernel_names.first_match import FirstMatch
from torch_tb_profiler.model.kernel_names.plain import plain_name

YES, NO, OPEN = True, False, None


def _of(kind: Kind, library: str, tensor_cores: bool | None, patterns: str, also: Kind | None = None) -> Family:
    return Family(kind, library, tensor_cores, tuple(patterns.split()), also)


_COMMUNICATION = (
    _of(Kind.COMMUNICATION, "RCCL", NO, r"(?i:rccl)"),  # most kernels of RCCL are named like NCCL's
    _of(Kind.COMMUNICATION, "DeepEP", NO, r"(?i:deep_ep)"),
    _of(Kind.COMMUNICATION, "mori", NO, r"Ep(?:Dispatch|Combine)\w*Kernel"),
    _of(Kind.COMMUNICATION, "pplx", NO, r"pplx::"),
    _of(Kind.COMMUNICATION, "TensorRT-LLM MoE", NO, r"(?i:moeAllToAll) moe_comm:: moeA2A"),
    _of(Kind.COMMUNICATION, "MSCCL++", NO, r"(?i:mscclpp) (?i:mscclKernel)"),
    _of(Kind.COMMUNICATION, "NVSHMEM", NO, r"(?i:nvshmem)"),
    _of(Kind.COMMUNICATION, "rocSHMEM", NO, r"(?i:rocshmem)"),
    _of(Kind.COMMUNICATION, "iSHMEM", NO, r"ishmem"),
    _of(Kind.COMMUNICATION, "NCCL", NO, r"(?i:nccl(?:Dev|Symk?)*Kernel) ^(?i:nccl) (?i:_nccl)"),
    _of(Kind.COMMUNICATION, "oneCCL", NO, r"(?i:oneccl) (?i:(?<![a-z])ccl_)"),
    _of(Kind.COMMUNICATION, "HCCL", NO, r"(?i:hccl) ^(?i:hcom_)"),
    _of(
        Kind.COMMUNICATION,
        "TensorRT-LLM, FlashInfer, AITER",
        NO,
        r"allreduce_fusion_kernel (?i:lamport) (?:one|two)shotAllreduceFusion local_device_load_rmsnorm",
        also=Kind.NORM,
    ),
    _of(Kind.COMMUNICATION, "Transformer Engine userbuffers", NO, r"userbuffers_"),
    _of(
        Kind.COMMUNICATION,
        "custom",  # of PyTorch's symmetric memory, vLLM, SGLang and AITER
        NO,
        r"""(?i:multimem_(?:one_shot_)?all_) (?i:(?:one|two)_?shot_all_?reduce) (?i:all_?reduce_(?:one|two)_?shot)
        symm_mem.*barrier_kernel (?i:cross_device_reduce) reduce_scatter_cross_device
        allreduce_prototype_(?:one|two)shot""",
    ),
)

_COMPILED = (
    # Names of what was fused follow, of products too: `triton_poi_fused_addmm_…` is none.
    _of(Kind.POINTWISE, "Inductor", NO, r"^triton_poi_"),
    _of(Kind.REDUCTION, "Inductor", NO, r"^triton_(?:red|per|spl|split_scan|mix)_"),
    _of(Kind.OPTIMIZER, "Inductor", NO, r"^triton_for_"),  # horizontal fusion: `foreach` operators
    _of(Kind.ATTENTION, "Inductor", YES, r"^triton_(?:tem_\w*)?flex_"),
    _of(Kind.CONV, "Inductor", YES, r"^triton_tem_fused_\w*convolution"),
    _of(Kind.GEMM, "Inductor", YES, r"^triton_(?:tem|mm|bmm|addmm)_"),
    _of(Kind.COMPUTE, "Inductor", OPEN, r"^triton__?\d"),  # of 2022-23: the name says nothing
)

_MIXTURE_OF_EXPERTS = (
    _of(Kind.GEMM, "Triton", YES, r"^fused_moe_kernel\w*$ ^_?grouped_gemm_kernel\w*$ ^_grouped_matmul\w*$"),
    _of(Kind.GEMM, "triton_kernels", YES, r"^(?:_p)?_matmul_ogs"),
    _of(Kind.GEMM, "AITER", YES, r"fmoe_(?:bf16|fp16|fp8|int8) aiter::fmoe"),
    _of(
        Kind.GEMM,
        "Composable Kernel",
        YES,
        r"kernel_moe_gemm mfma_moe\d MoeFlatmm FusedMoe\w*Kernel moe_ck2stages",
    ),
    _of(
        Kind.ROUTING,
        "TensorRT-LLM",
        NO,
        r"""moe::dev::(?:routing|finalize|permute|activation|convertsf) routingIndices routingInit expandInputRows
        finalizeMoeRouting ExpertPrefixSum fusedBuildExpertMaps""",
    ),
    _of(
        Kind.ROUTING,
        "vLLM, SGLang, AITER, triton_kernels",
        NO,
        r"""moe_align_block_size count_and_sort_expert MoeSorting moe_sum topk_?gating topk_softmax moe_fused_gate
        ^_combined_routing ^_topk_forward ^_sum_bitmatrix ^_finalize_matmul_scatter deepseek_v3_topk""",
    ),
)

_ATTENTION = (
    _of(Kind.ATTENTION, "TensorRT-LLM", YES, r"^fmhaSm\d+\w*Kernel_Qkv"),
    _of(
        Kind.ATTENTION_HELPER,
        "TensorRT-LLM",
        NO,
        r"fmhaReductionKernel computeSeqAndPaddingOffsets applyBiasRopeUpdateKVCache",
    ),
    _of(
        Kind.ATTENTION_HELPER,
        "FlashAttention",
        NO,
        r"""flash_bwd_(?:dot_do_o|convert_d\w+|clear_dkvaccum|preprocess|postprocess) flash_fwd_splitkv_combine
        FlashAttnFwdCombine FlashAttnBwd(?:Preprocess|Postprocess) prepare_varlen_num_blocks""",
    ),
    _of(Kind.ATTENTION, "FlashAttention 2", YES, r"flash_(?:fwd|bwd)(?:_splitkv|_dq_dk_dv_loop\w*)?_kernel"),
    _of(
        Kind.ATTENTION,
        "FlashAttention 3, FlashMLA",
        YES,
        r"""FlashAttn(?:Fwd|Bwd)Sm flash::enable_sm90 CollectiveMainloop(?:Fwd|Bwd)Sm flash_fwd_(?:splitkv_)?mla
        flash_mla sm90_mla FlashAttentionForwardSm""",
    ),
    _of(Kind.ATTENTION, "cuDNN", YES, r"(?i:cudnn\w*sdpa) sdpa_sm\d+_flash"),
    # 32 bits: three products in TF32, from Ampere on. 16 bits: from Volta on.
    _of(Kind.ATTENTION, "CUTLASS", NO, r"fmha_cutlass[FB]_\w*sm(?:50|60|61)(?!\d)"),
    _of(Kind.ATTENTION, "CUTLASS", YES, r"fmha_cutlass[FB]_(?:f16|bf16) fmha_cutlass[FB]_f32\w*sm80"),
    _of(Kind.ATTENTION, "CUTLASS", NO, r"fmha_cutlass[FB]_f32"),
    _of(
        Kind.ATTENTION,
        "Composable Kernel",
        YES,
        r"FmhaFwd\w*Kernel FmhaBwd\w*Kernel FmhaBatchPrefill BlockFmha ck_tile.*Fmha",
    ),
    _of(
        Kind.ATTENTION,
        "AITER",
        YES,
        r"aiter::(?:fmha|mla|pa)_ fmha_(?:fwd|bwd)_hd\d+ ^pa_bf16 mla_a\d+w\d+",
    ),
    _of(Kind.ATTENTION_HELPER, "Triton", NO, r"^_?(?:attn_)?bwd_preprocess\w*$"),
    _of(Kind.ATTENTION, "AOTriton", YES, r"^(?:attn_fwd|bwd_kernel_(?:fuse|dk_dv|dq))(?:_\w*)?$"),
    _of(Kind.ATTENTION, "SageAttention", YES, r"^sage_fwd qk_int[84]_sv sageattn"),
    _of(
        Kind.ATTENTION,
        "Triton",
        YES,
        r"""^kernel_unified_attention ^_fwd_kernel(?!_stage2)\w*$ ^_attn_(?:fwd|bwd)\w*$ ^_fwd_grouped_kernel_stage1
        ^_bwd_(?:kernel|dkdv|dq)\w*$ ^extend_attention ^_?(?:context|prefix_prefill)_\w*attn""",
    ),
    _of(Kind.ATTENTION, "vLLM", YES, r"paged_attention_ll4mi_QKV_mfma"),
    _of(
        Kind.ATTENTION_HELPER,
        "vLLM, FlashInfer",
        NO,
        r"paged_attention_ll4mi_reduce _fwd_kernel_stage2 merge_attn_states MergeStates paged_attention_v2_reduce",
    ),
    _of(Kind.ATTENTION, "vLLM", NO, r"paged_attention_v[12]_kernel"),
    _of(
        Kind.ATTENTION,
        "FlashInfer",
        YES,
        r"(?:Batch|Single)Prefill\w*Kernel BatchMLAPagedAttention PrefillWithKVCacheKernel",
    ),
    _of(Kind.ATTENTION, "FlashInfer", NO, r"(?:Batch|Single)Decode\w*KVCacheKernel"),
    _of(Kind.LINEAR_ATTENTION, "FLA, Mamba", YES, r"chunk_\w*fwd_kernel_[ho](?![a-z])"),
    _of(Kind.LINEAR_ATTENTION, "FLA, Mamba", NO, r"fused_recurrent_\w*(?:fwd|bwd)_kernel"),
    _of(
        Kind.LINEAR_ATTENTION,
        "FLA, Mamba",
        OPEN,
        r"chunk_\w*(?:fwd|bwd)_kernel _chunk_(?:scan|state) delta_rule recompute_w_u",
    ),
    _of(Kind.LINEAR_ATTENTION, "Mamba", NO, r"selective_scan_ causal_conv1d selective_state_update"),
    _of(
        Kind.KV_CACHE,
        "vLLM, SGLang, FlashInfer",
        NO,
        r"""reshape_and_cache store_kv_?cache concat_and_cache set_mla_kv _copy_page_indices create_flashinfer_kv
        cp_gather_ AppendPagedKVCache indexerKCache gather_cache""",
    ),
)

_QUANTIZE = (
    _of(Kind.NORM, "AITER", NO, r"add_rmsnorm_quant rmsnorm\w*quant", also=Kind.QUANTIZE),
    _of(
        Kind.QUANTIZE,
        "FBGEMM",
        NO,
        r"_(?:compute_)?FP8_quantize _FP8rowwise_to_float _get_FP8_qparam _float_to_bfloat16 quantize_\w*cuda_kernel",
    ),
    _of(
        Kind.QUANTIZE,
        "vLLM, SGLang, TensorRT-LLM",
        NO,
        r"""quantize_with_block_size scaled_fp8_quant per_token_(?:group_)?quant dynamic_per_token _quant_kernel
        cvt_fp(?:16|8) quant_fp4 dequantize_ sage_quant dynamic_mxfp4_quant""",
    ),
)

_GEMM = (
    _of(
        Kind.GEMM,
        "TensorRT-LLM",
        YES,
        r"^(?:bmm|gemm)_(?:Mx)?(?:E2m1|E4m3|E5m2|Bfloat16|Fp16|Fp32)\w*_Fp32_\w*t\d+x\d+x\d+",
    ),
    _of(Kind.GEMM, "DeepGEMM", YES, r"deep_gemm::\w*gemm sm(?:90|100)_fp8_\w*(?:gemm|mqa_logits|moe)"),
    _of(Kind.GEMM, "TensorRT-LLM", YES, r"fp8_blockscale_gemm fused_moe::run_global fused_a_gemm_kernel"),
    _of(Kind.GEMM, "Marlin, Machete", YES, r"(?i:marlin(?:_moe\w*)?::) \bMarlin< (?i:machete)"),
    _of(Kind.GEMM, "cuBLAS, MAGMA", NO, r"^gemm_kernel2x2_core gemmSN_ gemmk1_ sgemm_largek"),
    _of(
        Kind.GEMM,
        "Triton",
        YES,
        r"""_w8a8_\w*(?:matmul|mm) _w\d+a\d+_\w*mm ^_?matmul_kernel\w*$
        ^_?(?:scaled|bmm|gemm|batched_gemm)\w*_kernel\w*$ ^mm_kernel\w*$ ^_gemm_a _int_scaled_matmul cute_dsl_kernels""",
    ),
    _of(Kind.GEMM, "cuBLAS", YES, r"nvjet_"),
    _of(Kind.CONV, "cuDNN", NO, r"xmma_\w*implicit_gemm\w*(?:ffma|simt) cutlass\w*_simt_\w*(?:fprop|dgrad|wgrad)"),
    _of(Kind.GEMM, "CUTLASS", NO, r"cutlass\w*_simt_ xmma_gemm_\w*(?:ffma|simt)"),
    _of(
        Kind.CONV,
        "cuDNN",
        YES,
        r"""cutlass_(?:\d+_)?(?:wmma_)?tensorop_\w*(?:fprop|dgrad|wgrad) sm\d+_xmma_\w*(?:fprop|dgrad|wgrad)
        xmma_\w*implicit_gemm cutlass_cudnn.*ImplicitGemmConvolution.*(?:tfloat32|half_t|bfloat16|bf16|fp16)
        (?<![a-z])[hs](?:884|1688|16816)cudnn xmma_sparse_conv first_layer_wgrad_kernel dgrad_1x1_stride_2x2
        conv2d_c1_k1 direct_group""",
    ),
    _of(
        Kind.GEMM,
        "CUTLASS",
        YES,
        r"""cutlass\w*_tensorop_ cutlass3x_sm(?:90|100|103|120)_ Mainloop(?:Sm90|Sm100|Sm120) GmmaWarpSpecialized
        UmmaWarpSpecialized""",
    ),
    _of(
        Kind.GEMM,
        "cuBLAS",
        YES,
        r"""sm\d+_xmma_(?:sparse_)?gemm_
        (?:volta|turing|ampere|hopper)_\w*(?<![a-z])[hsid](?:884|1688|16816|161616|8816)gemm""",
    ),
    _of(
        Kind.GEMM,
        "cuBLAS, MAGMA",
        NO,
        r"""(?:maxwell|pascal|volta|turing|ampere)_\w*[sdczg]?[sdczh]gemm magma_\w*gemm""",
    ),
    _of(Kind.GEMV, "cuBLAS", NO, r"gemv (?<!\w)dot_kernel< reduce_1Block_kernel"),
    _of(Kind.GEMM_HELPER, "cuBLAS", NO, r"splitKreduce epilogue::impl ReduceSplitK scal_kernel"),
    _of(
        Kind.CONV,
        "Composable Kernel",
        YES,
        r"""kernel_grouped_conv\w*xdl conv\w*xdlops batched_gemm_xdlops_bwd_weight
        (?i:gridwise\w*conv\w*(?:xdl|wmma))""",
    ),
    _of(
        Kind.GEMM,
        "Composable Kernel",
        YES,
        r"""kernel_gemm\w*(?:xdl|wmma) gemm\w*xdlops ck_tile.*(?:FlatmmKernel|GemmKernel|QuantGemm)
        GridwiseGemm\w*xdl""",
    ),
    _of(Kind.GEMM, "AITER", YES, r"(?:bf16|f4|i8|fp8)gemm_\w*_tn_\d+x\d+ aiter::.*gemm hgemm_bf16_\d+x\d+"),
    _of(Kind.GEMM_HELPER, "Tensile", NO, r"Cijk_\w*PostGSU"),
    _of(Kind.GEMM, "Tensile", YES, r"Cijk_\w*_MI\d+x\d+"),
    # The matrix instruction stands behind the tile; a name that ends before it was cut off.
    _of(Kind.GEMM, "Tensile", NO, r"Cijk_\w*_MT\d+x\d+x\d+_[A-LN-Z]\w"),
    _of(Kind.GEMM, "Tensile", OPEN, r"Cijk_"),
    # named by the instruction they use
    _of(Kind.GEMM, "", YES, r"tcgen05 (?i:w?gmma)(?![a-z]) (?i:hmma) (?i:mfma) (?i:xdlops)"),
)

_CONVOLUTION = (
    _of(Kind.CONV, "MIOpen", YES, r"igemm_(?:fwd|bwd|wrw)_gtcx\d?_"),
    _of(Kind.CONV, "MIOpen", NO, r"igemm_(?:fwd|bwd|wrw)_gtc_ igemm_v4r1"),
    _of(Kind.CONV, "MIOpen", NO, r"miopenSp3AsmConv miopenGcnAsmConv gcnAsmConv naive_conv_ MIOpenConv"),
    _of(
        Kind.CONV,
        "cuDNN",
        NO,
        r"""scudnn (?:implicit|explicit|precomputed)_convolve (?:dgrad|wgrad)\w*_engine dgrad2d wgrad2d reduce_wgrad
        (?i:winograd) fft[12]d conv2d_grouped_direct""",
    ),
    _of(Kind.CONV, "PyTorch, cuDNN", NO, r"(?i:depthwise)"),
    _of(
        Kind.LAYOUT,
        "cuDNN, MIOpen",
        NO,
        r"""nchwToNhwc nhwcToNchw tensorTransform ^batched_transpose_ transpose_(?:NCHW|CNHW|packed) SubTensorOp
        scalePackedTensor""",
    ),
    _of(Kind.CONV_HELPER, "", NO, r"(?i:im(?:2d)?(?:3d)?2col) col2im compute\w*Offsets kern_precompute_indices"),
)

_MODEL_PARTS = (
    _of(
        Kind.EMBEDDING,
        "FBGEMM",
        NO,
        r"""split_embedding dense_embedding ^fbgemm_gpu:: bounds_check_indices linearize_index permute_pooled_embs
        recat_copy ssd_embedding to_dense_representation compute_cuda_kernel""",
    ),
    _of(
        Kind.EMBEDDING,
        "PyTorch",
        NO,
        r"""(?i:embedding_?(?:backward|bag|dense)) compute_grad_weight sum_and_scatter krn_partial indexSelect
        num_of_partial_segments vectorized_gather_kernel""",
    ),
    _of(Kind.NORM, "PyTorch, cuDNN, MIOpen", NO, r"(?i:batch_?norm) (?i:bn_(?:fw|bw)_)"),
    _of(
        Kind.NORM,
        "",
        NO,
        r"""(?i:layer_?norm) (?i:rms_?norm) (?i:group_?norm) (?i:lpnorm)(?!_cleanup) RowwiseMoments ComputeFusedParams
        cuCompute(?:Part)?Grad(?:GammaBeta|Input) GammaBetaBackward""",
    ),
    _of(Kind.SOFTMAX, "PyTorch", NO, r"(?i:softmax)"),
    _of(Kind.LOSS, "PyTorch", NO, r"(?i:nll_loss) (?i:ClassNLL) (?i:cross_entropy) (?i:mse_)"),
    _of(
        Kind.OPTIMIZER,
        "PyTorch, apex",
        NO,
        r"multi_tensor_apply Adam(?:W)?Functor fused_adam FusedOptimizer sgd_kernel lamb_",
    ),
    _of(Kind.ROTARY, "vLLM, FlashInfer", NO, r"(?i:rotary) RopeQuantize _rope_ BatchQKApplyRotary"),
    _of(
        Kind.ACTIVATION,
        "vLLM, SGLang, AITER",
        NO,
        r"act_and_mul silu_and_mul gelu_and_mul swiglu(?!_) doActivationKernel",
    ),
    _of(
        Kind.SAMPLER,
        "FlashInfer, PyTorch, SGLang",
        NO,
        r"""(?i:TopKTopP) (?i:SamplingFrom) (?i:gatherTopK) (?i:topK\w*Decode) (?i:multinomial) (?i:argmax)
        resolve_future_token apply_\w*penalt (?:clamp|compute)_position""",
    ),
)

_GENERAL = (
    _of(
        Kind.SORT,
        "CUB, rocPRIM, Thrust",
        NO,
        r"""^[\w:]*cub:: ^[\w:]*rocprim ^[\w:]*thrust:: RadixSort bitonicSort onesweep lookback_scan partition_kernel
        kernel_scan_(?:inner|outer)""",
    ),
    _of(Kind.POOLING, "PyTorch", NO, r"(?i:pool)"),
    _of(Kind.IMAGE, "PyTorch, torchvision", NO, r"upsample grid_sampler nms_kernel roi_align"),
    _of(Kind.RANDOM, "PyTorch", NO, r"dropout distribution_(?:nullary|elementwise) (?i:philox)"),
    _of(Kind.CONCATENATE, "PyTorch", NO, r"CatArrayBatchedCopy"),
    _of(
        Kind.COPY,
        "PyTorch, ROCm",
        NO,
        r"direct_copy_kernel (?:bfloat16|float8|float16)_copy copy_device_to_device __amd_rocclr_copy",
    ),
    _of(Kind.FILL, "PyTorch, ROCm", NO, r"FillFunctor __amd_rocclr_fill fill_kernel triu_tril"),
    _of(
        Kind.INDEX,
        "PyTorch",
        NO,
        r"""index_(?:elementwise|kernel|put) indexing_backward scatter gather masked_ _index_copy _put_
        write_indices""",
    ),
    _of(Kind.REDUCTION, "PyTorch", NO, r"reduce_kernel ReduceOp lpnorm_cleanup"),
    _of(Kind.POINTWISE, "PyTorch", NO, r"elementwise_kernel elementwise_with_index transform_kernel"),
    _of(
        Kind.LINEAR_ALGEBRA,
        "cuSOLVER, cuBLAS, MAGMA",
        NO,
        r"getrf trsm laswp ipiv potrf geqrf syev trtri xxtrf create_pivot",
    ),
    _of(Kind.SPIN, "PyTorch", NO, r"spin_kernel"),
    _of(Kind.WAIT, "MTIA", NO, r"^event_(?:wait|record)$"),
    _of(Kind.COMPUTE, "MTIA", OPEN, r"^(?:pe_exe|merge|remote)$"),
    _of(Kind.COPY, "MTIA", NO, r"^dma_request$"),
    _of(Kind.POINTWISE, "PyTorch", NO, r"^at::native ^at::cuda"),
)

FAMILIES = (
    *_COMMUNICATION,
    *_COMPILED,
    *_MIXTURE_OF_EXPERTS,
    *_ATTENTION,
    *_QUANTIZE,
    *_GEMM,
    *_CONVOLUTION,
    *_MODEL_PARTS,
    *_GENERAL,
)


_PATTERNS = tuple((pattern, family) for family in FAMILIES for pattern in family.patterns)
_FIRST = FirstMatch(pattern for pattern, _ in _PATTERNS)


@lru_cache(maxsize=4096)
def family_of(name: str) -> Family | None:
    """The family of a kernel by its name; None: unknown."""
    place = _FIRST(plain_name(name))
    return None if place is None else _PATTERNS[place][1]
