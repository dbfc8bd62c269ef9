/** What is said of the time of devices and of compute kernels, by its English text. */
export const quantityTexts: Record<string, string> = {
  "Device busy": "设备忙碌",
  Computing: "计算中",
  Communicating: "通信中",
  "Occupancy known": "占用率已知",
  "Tensor cores not used": "未使用 Tensor Core",
  "Tensor cores unknown": "Tensor Core 未知",
  "Exposed communication per step": "每步暴露的通信",
  "Time of the steps in which at least one kernel, copy or fill ran on the device ÷ time of the steps; mean over the devices that ran kernels.":
    "各步中设备上至少有一个内核、拷贝或置位在运行的时间 ÷ 各步的时间；取运行过内核的设备的平均值。",
  "Time of the steps in which at least one compute kernel ran on the device ÷ time of the steps; mean over the devices that ran kernels. Communication, copies and fills do not count.":
    "各步中设备上至少有一个计算内核在运行的时间 ÷ 各步的时间；取运行过内核的设备的平均值。通信、拷贝和置位不计入。",
  "Time of the steps in which at least one communication kernel ran on the device ÷ time of the steps, hidden behind compute or not; mean over the devices that ran kernels. Empty where communication is only known from calls on the host (gloo, MPI).":
    "各步中设备上至少有一个通信内核在运行的时间 ÷ 各步的时间，无论是否被计算掩盖；取运行过内核的设备的平均值。只能从主机上的调用得知通信（gloo、MPI）时为空。",
  "Time of the steps in which communication kernels ran on the device and no compute kernel did ÷ time of the steps; mean over the devices that ran kernels. Copies do not hide communication. Empty where communication is only known from calls on the host (gloo, MPI).":
    "各步中设备上有通信内核运行而没有计算内核运行的时间 ÷ 各步的时间；取运行过内核的设备的平均值。拷贝不掩盖通信。只能从主机上的调用得知通信（gloo、MPI）时为空。",
  "How much of the device's multiprocessors (SMs) compute kernels could fill. At each moment the blocks per SM of the running compute kernels are added, at most 1; this is averaged over the time of the steps. Estimated from launch configurations, not measured.":
    "计算内核能占满设备多处理器（SM）的程度。每一时刻把正在运行的计算内核的每 SM 线程块数相加，最多为 1；再对各步的时间取平均。由启动配置估算，并非测量值。",
  "Active warps ÷ most warps an SM can hold, as estimated by the profiler for each kernel; mean over the compute kernels of which it is known, weighted by duration.":
    "活动 warp 数 ÷ 一个 SM 最多可容纳的 warp 数，由分析器对每个内核估算；取占用率已知的计算内核按耗时加权的平均值。",
  "Duration of the compute kernels whose occupancy is known ÷ duration of all compute kernels. The profiler writes 0 instead of computing it for kernels with more than 48 KiB of shared memory in a block.":
    "占用率已知的计算内核的耗时 ÷ 所有计算内核的耗时。每个线程块的共享内存超过 48 KiB 的内核，分析器不计算而写为 0。",
  "Duration of the compute kernels known by name to use tensor cores ÷ duration of all compute kernels.":
    "根据名称已知使用 Tensor Core 的计算内核的耗时 ÷ 所有计算内核的耗时。",
  "Duration of the compute kernels known by name not to use tensor cores ÷ duration of all compute kernels.":
    "根据名称已知不使用 Tensor Core 的计算内核的耗时 ÷ 所有计算内核的耗时。",
  "Duration of the compute kernels whose name leaves open whether they use tensor cores ÷ duration of all compute kernels.":
    "无法根据名称判断是否使用 Tensor Core 的计算内核的耗时 ÷ 所有计算内核的耗时。",
  "Active warps ÷ most warps an SM can hold, as estimated by the profiler. Mean over the calls of which it is known, weighted by duration. Empty where it is known of none: the profiler writes 0 instead of computing it for kernels with more than 48 KiB of shared memory in a block.":
    "活动 warp 数 ÷ 一个 SM 最多可容纳的 warp 数，由分析器估算。取占用率已知的调用按耗时加权的平均值。全部未知时为空：每个线程块的共享内存超过 48 KiB 的内核，分析器不计算而写为 0。",
  "Duration of the calls whose occupancy is known ÷ duration of all its calls.":
    "占用率已知的调用的耗时 ÷ 该行所有调用的耗时。",
  "Time of the step in which communication ran and no computation, on whatever device of the rank. Communication is its kernels; of libraries without kernels (gloo, MPI) it is the calls on the host.":
    "步骤中 rank 的任一设备上有通信而没有计算的时间。通信指其内核；没有内核的库（gloo、MPI）指主机上的调用。",
  "Time of the step in which communication kernels ran on a device and no compute kernel did; copies do not hide it. Mean over the devices. Empty where communication is only known from calls on the host (gloo, MPI).":
    "步骤中设备上有通信内核运行而没有计算内核运行的时间；拷贝不掩盖通信。取各设备的平均值。只能从主机上的调用得知通信（gloo、MPI）时为空。",
  "Time of the average step in which communication kernels ran on a device and no compute kernel did; mean over the devices that ran kernels. Copies do not hide communication.":
    "平均每步中设备上有通信内核运行而没有计算内核运行的时间；取运行过内核的设备的平均值。拷贝不掩盖通信。",
};
