"""Demangled kernel names as PyTorch's libraries have them.

``{T}`` stands for the element type, ``{f}`` for a functor, ``{way}`` for Forward or Backward.
"""

# ruff: noqa: E501

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{f}, std::array<char*, 3ul> >(int, at::native::{f}, std::array<char*, 3ul>)"
COLUMN_SUM = "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<{T}, at::native::func_wrapper_t<{T}, at::native::sum_functor<{T}, float, {T}>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, {T}, 4, 4> >(at::native::ReduceOp<{T}>)"
LAYER_NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<{T}, float, false>(int, float, {T} const*, {T} const*, {T} const*, float*, float*, {T}*)"
LAYER_NORM_BACKWARD = "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized<{T}, float, false>({T} const*, {T} const*, float const*, float const*, {T} const*, {T}*, int)"
GATHER = "void at::native::(anonymous namespace)::indexSelectLargeIndex<{T}, long, unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<{T}, unsigned int>, long)"
SCATTER = "void at::native::(anonymous namespace)::embedding_backward_feature_kernel<{T}, float, long>(long const*, {T} const*, {T}*, int, long, int)"
SOFTMAX = "void at::native::(anonymous namespace)::cunn_SoftMax{way}<8, {T}, float, {T}, at::native::(anonymous namespace)::LogSoftMax{way}Epilogue>({T}*, {T} const*, int)"
NLL_LOSS = "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<{T}, float, long>({T}*, {T}*, {T} const*, long const*, {T} const*, bool, long, long, long, long)"
FUSED_ADAM = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::(anonymous namespace)::FusedAdamMathFunctor<{T}, 4, (at::native::ADAM_MODE)1, false>, float const*, double>(at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>)"
GELU = "GeluCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda({T})#1}"
GELU_BACKWARD = "GeluBackwardCUDAKernelImpl(at::TensorIteratorBase&, at::native::GeluType)::{lambda({T}, {T})#1}"
FLASH = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)"
FLASH_BACKWARD = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<pytorch_flash::Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_bwd_params)"
EFFICIENT = "fmha_cutlassF_f16_aligned_64x64_rf_sm70(PyTorchMemEffAttention::AttentionKernel<cutlass::half_t, cutlass::arch::Sm70, true, 64, 64, 64, true, true>::Params)"
EFFICIENT_BACKWARD = "fmha_cutlassB_f16_aligned_128x64_k64_sm70(PyTorchMemEffAttention::AttentionBackwardKernel<cutlass::half_t, cutlass::arch::Sm70, true, false, false, 128, 64, 64, true>::Params)"
