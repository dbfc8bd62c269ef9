/** What to do about transfers that nothing hides, by what is sent. */
const ADVICE: Readonly<Record<string, string>> = {
  gradients:
    "请减少传输量，或在计算的同时传输：用 `DistributedDataParallel(…, bucket_cap_mb=…, gradient_as_bucket_view=True)` 增大桶，使用 `bf16_compress_hook` 之类的通信钩子，或在 `no_sync()` 下累积梯度。",
  exchanges:
    "请减少 all-to-all 交换的传输量，或在计算的同时传输：使用更短的类型；在计算一半批次时交换另一半（`all_to_all_single(…, async_op=True)`，并在使用结果处 `wait()`）；把交换最多的 rank 放在同一主机上。",
  others:
    "请在计算其他内容的同时传输（`async_op=True`，并在使用结果处 `wait()`），或减少传输量：更短的类型，或让每组的 rank 更少。",
  overtaken:
    "它们已经是异步的，而更晚启动的内核先运行。设置 `CUDA_DEVICE_MAX_CONNECTIONS=1` 时各流共用设备的一个队列：除非框架需要这个顺序，请设为 8 或更大。占满所有多处理器的内核不给集合通信留下位置：请给它的流较高的优先级。也可能它的流在等待这些内核的事件（`wait_stream`）：请只等待产生其输入的内核。",
  asynchronous:
    "它们已经是异步的，但与之并行的计算太少：请更早启动，在使用结果处才 `wait()`，或减少传输量：更短的类型，或让每组的 rank 更少。",
  queued:
    "并不是主机拖住了它们：主机早已启动，而在设备上它们排在此前启动的所有内核之后。请在不产生其输入的内核之前调用它们，让设备在此期间计算不需要其结果的内容，或减少传输量：更短的类型，或让每组的 rank 更少。",
};

export function transferAdvice(sent: unknown): string {
  return ADVICE[String(sent)] ?? ADVICE.others ?? "";
}
