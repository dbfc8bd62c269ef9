"""Families of kernels that multiply matrices, convolve or attend, and of their helpers. See `families`."""

from __future__ import annotations

from torch_tb_profiler.model.kernel_names.family import NO, OPEN, YES, KernelKind, of_kind

MIXTURE_OF_EXPERTS = (
    of_kind(KernelKind.GEMM, "Triton", YES, r"^fused_moe_kernel\w*$ ^_?grouped_gemm_kernel\w*$ ^_grouped_matmul\w*$"),
    of_kind(KernelKind.GEMM, "triton_kernels", YES, r"^(?:_p)?_matmul_ogs"),
    of_kind(KernelKind.GEMM, "AITER", YES, r"fmoe_(?:bf16|fp16|fp8|int8) aiter::fmoe"),
    of_kind(
        KernelKind.GEMM,
        "Composable Kernel",
        YES,
        r"kernel_moe_gemm mfma_moe\d MoeFlatmm FusedMoe\w*Kernel moe_ck2stages",
    ),
    of_kind(
        KernelKind.ROUTING,
        "TensorRT-LLM",
        NO,
        r"""moe::dev::(?:routing|finalize|permute|activation|convertsf) routingIndices routingInit expandInputRows
        finalizeMoeRouting ExpertPrefixSum fusedBuildExpertMaps""",
    ),
    of_kind(
        KernelKind.ROUTING,
        "vLLM, SGLang, AITER, triton_kernels",
        NO,
        r"""moe_align_block_size count_and_sort_expert MoeSorting moe_sum topk_?[gG]ating topk_softmax moe_fused_gate
        ^_combined_routing ^_topk_forward ^_sum_bitmatrix ^_finalize_matmul_scatter deepseek_v3_topk""",
    ),
)

ATTENTION = (
    of_kind(KernelKind.ATTENTION, "TensorRT-LLM", YES, r"^fmhaSm\d+\w*Kernel_Qkv"),
    of_kind(
        KernelKind.ATTENTION_HELPER,
        "TensorRT-LLM",
        NO,
        r"fmhaReductionKernel computeSeqAndPaddingOffsets applyBiasRopeUpdateKVCache",
    ),
    of_kind(
        KernelKind.ATTENTION_HELPER,
        "FlashAttention",
        NO,
        r"""flash_bwd_(?:dot_do_o|convert_d\w+|clear_dkvaccum|preprocess|postprocess) flash_fwd_splitkv_combine
        FlashAttnFwdCombine FlashAttnBwd(?:Preprocess|Postprocess) prepare_varlen_num_blocks""",
    ),
    of_kind(KernelKind.ATTENTION, "FlashAttention 2", YES, r"flash_(?:fwd|bwd)(?:_splitkv|_dq_dk_dv_loop\w*)?_kernel"),
    of_kind(
        KernelKind.ATTENTION,
        "FlashAttention 3, FlashMLA",
        YES,
        r"""FlashAttn(?:Fwd|Bwd)Sm flash::enable_sm90 CollectiveMainloop(?:Fwd|Bwd)Sm flash_fwd_(?:splitkv_)?mla
        flash_mla sm90_mla FlashAttentionForwardSm""",
    ),
    of_kind(KernelKind.ATTENTION, "cuDNN", YES, r"(?i:cudnn\w*sdpa) sdpa_sm\d+_flash"),
    # 32 bits: three products in TF32, from Ampere on. 16 bits: from Volta on.
    of_kind(KernelKind.ATTENTION, "CUTLASS", NO, r"fmha_cutlass[FB]_\w*sm(?:50|60|61)(?!\d)"),
    of_kind(KernelKind.ATTENTION, "CUTLASS", YES, r"fmha_cutlass[FB]_(?:f16|bf16) fmha_cutlass[FB]_f32\w*sm80"),
    of_kind(KernelKind.ATTENTION, "CUTLASS", NO, r"fmha_cutlass[FB]_f32"),
    of_kind(
        KernelKind.ATTENTION,
        "Composable Kernel",
        YES,
        r"FmhaFwd\w*Kernel FmhaBwd\w*Kernel FmhaBatchPrefill BlockFmha ck_tile.*Fmha",
    ),
    of_kind(
        KernelKind.ATTENTION,
        "AITER",
        YES,
        r"aiter::(?:fmha|mla|pa)_ fmha_(?:fwd|bwd)_hd\d+ ^pa_bf16 mla_a\d+w\d+",
    ),
    of_kind(KernelKind.ATTENTION_HELPER, "Triton", NO, r"^_?(?:attn_)?bwd_preprocess\w*$"),
    of_kind(KernelKind.ATTENTION, "AOTriton", YES, r"^(?:attn_fwd|bwd_kernel_(?:fuse|dk_dv|dq))(?:_\w*)?$"),
    of_kind(KernelKind.ATTENTION, "SageAttention", YES, r"^sage_fwd qk_int[84]_sv sageattn"),
    of_kind(
        KernelKind.ATTENTION,
        "Triton",
        YES,
        r"""^kernel_unified_attention ^_fwd_kernel(?!_stage2)\w*$ ^_attn_(?:fwd|bwd)\w*$ ^_fwd_grouped_kernel_stage1
        ^_bwd_(?:kernel|dkdv|dq)\w*$ ^extend_attention ^_?(?:context|prefix_prefill)_\w*attn""",
    ),
    of_kind(KernelKind.ATTENTION, "vLLM", YES, r"paged_attention_ll4mi_QKV_mfma"),
    of_kind(
        KernelKind.ATTENTION_HELPER,
        "vLLM, FlashInfer",
        NO,
        r"""paged_attention_ll4mi_reduce ^reduce_segments$ _fwd_kernel_stage2 merge_attn_states MergeStates
        paged_attention_v2_reduce""",
    ),
    of_kind(KernelKind.ATTENTION, "vLLM", NO, r"paged_attention_v[12]_kernel"),
    of_kind(
        KernelKind.ATTENTION,
        "FlashInfer",
        YES,
        r"(?:Batch|Single)Prefill\w*Kernel BatchMLAPagedAttention PrefillWithKVCacheKernel",
    ),
    of_kind(KernelKind.ATTENTION, "FlashInfer", NO, r"(?:Batch|Single)Decode\w*KVCacheKernel"),
    of_kind(KernelKind.LINEAR_ATTENTION, "FLA, Mamba", YES, r"chunk_\w*fwd_kernel_[ho](?![a-z])"),
    of_kind(KernelKind.LINEAR_ATTENTION, "FLA, Mamba", NO, r"fused_recurrent_\w*(?:fwd|bwd)_kernel"),
    of_kind(
        KernelKind.LINEAR_ATTENTION,
        "FLA, Mamba",
        OPEN,
        r"chunk_\w*(?:fwd|bwd)_kernel _chunk_(?:scan|state) delta_rule recompute_w_u",
    ),
    of_kind(KernelKind.LINEAR_ATTENTION, "Mamba", NO, r"selective_scan_ causal_conv1d selective_state_update"),
    of_kind(
        KernelKind.KV_CACHE,
        "vLLM, SGLang, FlashInfer",
        NO,
        r"""reshape_and_cache store_kv_?cache concat_and_cache set_mla_kv _copy_page_indices create_flashinfer_kv
        cp_gather_ AppendPagedKVCache indexerKCache gather_cache""",
    ),
)

GEMM = (
    of_kind(
        KernelKind.GEMM,
        "TensorRT-LLM",
        YES,
        r"^(?:bmm|gemm)_(?:Mx)?(?:E2m1|E4m3|E5m2|Bfloat16|Fp16|Fp32)\w*_Fp32_\w*t\d+x\d+x\d+",
    ),
    of_kind(KernelKind.GEMM, "DeepGEMM", YES, r"deep_gemm::\w*gemm sm(?:90|100)_fp8_\w*(?:gemm|mqa_logits|moe)"),
    of_kind(KernelKind.GEMM, "TensorRT-LLM", YES, r"fp8_blockscale_gemm fused_moe::run_global fused_a_gemm_kernel"),
    of_kind(KernelKind.GEMM, "Marlin, Machete", YES, r"(?i:marlin(?:_moe\w*)?::) \bMarlin< (?i:machete)"),
    of_kind(KernelKind.GEMM, "cuBLAS, MAGMA", NO, r"^gemm_kernel2x2_core gemmSN_ gemmk1_ sgemm_largek"),
    of_kind(
        KernelKind.GEMM,
        "Triton",
        YES,
        r"""_w8a8_\w*(?:matmul|mm) _w\d+a\d+_\w*mm ^_?matmul_kernel\w*$
        ^_?(?:scaled|bmm|gemm|batched_gemm)\w*_kernel\w*$ ^mm_kernel\w*$ ^_gemm_a
        _int_scaled_matmul cute_dsl_kernels""",
    ),
    of_kind(KernelKind.GEMM, "cuBLAS", YES, r"nvjet_"),
    of_kind(
        KernelKind.CONV,
        "cuDNN",
        NO,
        r"xmma_\w{0,200}implicit_gemm\w{0,200}(?:ffma|simt) cutlass\w{0,200}_simt_\w{0,200}(?:fprop|dgrad|wgrad)",
    ),
    of_kind(KernelKind.GEMM, "CUTLASS", NO, r"cutlass\w*_simt_ xmma_gemm_\w*(?:ffma|simt)"),
    of_kind(
        KernelKind.CONV,
        "cuDNN",
        YES,
        r"""cutlass_(?:\d+_)?(?:wmma_)?tensorop_\w*(?:fprop|dgrad|wgrad) sm\d+_xmma_\w*(?:fprop|dgrad|wgrad)
        xmma_\w*implicit_gemm
        cutlass_cudnn.{0,500}ImplicitGemmConvolution.{0,1000}(?:tfloat32|half_t|bfloat16|bf16|fp16)
        (?<![a-z])[hs](?:884|1688|16816)cudnn xmma_sparse_conv first_layer_wgrad_kernel dgrad_1x1_stride_2x2
        conv2d_c1_k1 direct_group""",
    ),
    of_kind(KernelKind.CONV, "cuDNN", OPEN, r"cutlass_cudnn.*ImplicitGemmConvolution"),  # cut off before the types
    of_kind(
        KernelKind.GEMM,
        "CUTLASS",
        YES,
        r"""cutlass\w*_tensorop_ cutlass3x_sm(?:90|100|103|120)_ Mainloop(?:Sm90|Sm100|Sm120) GmmaWarpSpecialized
        UmmaWarpSpecialized""",
    ),
    of_kind(
        KernelKind.GEMM,
        "cuBLAS",
        YES,
        r"""sm\d+_xmma_(?:sparse_)?gemm_
        (?:volta|turing|ampere|hopper)_\w*(?<![a-z])[hsid](?:884|1688|16816|161616|8816)gemm""",
    ),
    of_kind(
        KernelKind.GEMM,
        "cuBLAS, MAGMA",
        NO,
        r"""(?:maxwell|pascal|volta|turing|ampere)_\w*[sdczg]?[sdczh]gemm magma_\w*gemm""",
    ),
    of_kind(KernelKind.GEMV, "cuBLAS", NO, r"gemv (?<!\w)dot_kernel< reduce_1Block_kernel"),
    of_kind(KernelKind.GEMM_HELPER, "cuBLAS, CUTLASS", NO, r"splitKreduce epilogue::impl ReduceSplitK scal_kernel"),
    of_kind(
        KernelKind.CONV,
        "Composable Kernel",
        YES,
        r"""kernel_grouped_conv\w*xdl conv\w*xdlops batched_gemm_xdlops_bwd_weight
        (?i:gridwise\w{0,200}conv\w{0,200}(?:xdl|wmma))""",
    ),
    of_kind(
        KernelKind.GEMM,
        "Composable Kernel",
        YES,
        r"""kernel_gemm\w*(?:xdl|wmma) gemm\w*xdlops ck_tile.*(?:FlatmmKernel|GemmKernel|QuantGemm)
        GridwiseGemm\w*xdl""",
    ),
    of_kind(KernelKind.GEMM, "AITER", YES, r"(?:bf16|f4|i8|fp8)gemm_\w*_tn_\d+x\d+ aiter::.*gemm hgemm_bf16_\d+x\d+"),
    of_kind(KernelKind.GEMM_HELPER, "Tensile", NO, r"Cijk_\w*PostGSU"),
    of_kind(KernelKind.GEMM, "Tensile", YES, r"Cijk_\w*_MI\d+x\d+"),
    # The matrix instruction stands behind the tile; a name that ends before it was cut off.
    of_kind(KernelKind.GEMM, "Tensile", NO, r"Cijk_\w*_MT\d+x\d+x\d+_[A-LN-Z]\w"),
    of_kind(KernelKind.GEMM, "Tensile", OPEN, r"Cijk_"),
    # named by the instruction they use
    of_kind(KernelKind.GEMM, "", YES, r"tcgen05 (?i:w?gmma)(?![a-z]) (?i:hmma) (?i:mfma) (?i:xdlops)"),
)

CONVOLUTION = (
    of_kind(KernelKind.CONV, "MIOpen", YES, r"igemm_(?:fwd|bwd|wrw)_gtcx\d?_"),
    of_kind(KernelKind.CONV, "MIOpen", NO, r"igemm_(?:fwd|bwd|wrw)_gtc_ igemm_v4r1"),
    of_kind(KernelKind.CONV, "MIOpen", NO, r"miopenSp3AsmConv miopenGcnAsmConv gcnAsmConv naive_conv_ MIOpenConv"),
    of_kind(
        KernelKind.CONV,
        "cuDNN",
        NO,
        r"""scudnn (?:implicit|explicit|precomputed)_convolve (?:dgrad|wgrad)\w*_engine dgrad2d wgrad2d reduce_wgrad
        (?i:winograd) fft[12]d conv2d_grouped_direct""",
    ),
    of_kind(KernelKind.CONV, "PyTorch, cuDNN", NO, r"(?i:depthwise)"),
    of_kind(
        KernelKind.LAYOUT,
        "cuDNN, MIOpen",
        NO,
        r"""nchwToNhwc nhwcToNchw tensorTransform ^batched_transpose_ transpose_(?:NCHW|CNHW|packed) SubTensorOp
        scalePackedTensor""",
    ),
    of_kind(
        KernelKind.CONV_HELPER, "", NO, r"(?i:im(?:2d)?(?:3d)?2col) col2im compute\w*Offsets kern_precompute_indices"
    ),
)
