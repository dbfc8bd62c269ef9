/** What to do about transfers that nothing hides, by what is sent. */
const ADVICE: Readonly<Record<string, string>> = {
  gradients:
    "请减少传输量，或在计算的同时传输：用 `DistributedDataParallel(…, bucket_cap_mb=…, gradient_as_bucket_view=True)` 增大桶，使用 `bf16_compress_hook` 之类的通信钩子，或在 `no_sync()` 下累积梯度。",
  exchanges:
    "请减少 all-to-all 交换的传输量，或在计算的同时传输：使用更短的类型；在计算一半批次时交换另一半（`all_to_all_single(…, async_op=True)`，并在使用结果处 `wait()`）；把交换最多的 rank 放在同一主机上。",
  others:
    "请在计算其他内容的同时传输（`async_op=True`，并在使用结果处 `wait()`），或减少传输量：更短的类型，或让每组的 rank 更少。",
};

export function transferAdvice(sent: unknown): string {
  return ADVICE[String(sent)] ?? ADVICE.others ?? "";
}
