import type { ServerMessages } from "../values";
import { memoryColumns } from "./serverMemory";
import { programColumns } from "./serverProgram";
import { rooflineColumns } from "./serverRoofline";

/** Label and definition of each column, by its id: see `Definition` of the server. */
export const columns: ServerMessages["columns"] = {
  "kernels.name": ["名称", "内核的名称。"],

  "operators.name": ["名称", "算子的名称。"],
  "operators.is_communication": ["通信", "是否为对 torch.distributed 的调用（按名称判断）。"],

  "parts.path": [
    "路径",
    "该部分的位置：0 为全部，0-2 为其中的第三个部分；没有可打开的内容时为空。",
  ],
  "parts.name": [
    "基线",
    "该部分在基线中的名称；两个配对之间有多个部分时为第一个和最后一个；基线在该处没有内容时为空。",
  ],
  "parts.exp_name": ["实验", "在实验中的名称，规则相同。"],
  "parts.kind": [
    "种类",
    "两边共同的种类（模块、反向、数据加载、优化器、步、标注、通信、算子），或者为组。在全部的最后：before（采集开始前启动的工作）和 rest（不属于任何部分的内容）。",
  ],
  "parts.has_parts": ["可展开", "是否由两边能够对应的部分组成。"],

  "overlap.computation_ns": [
    "计算",
    "该步中设备上有计算内核在运行且没有通信的时间。跟踪中没有计算内核时：主机上有算子在计算的时间；通信调用和 autograd 的钩子不算计算。",
  ],
  "overlap.overlap_ns": ["重叠", "该步中计算与通信同时进行的时间。"],
  "overlap.other_ns": [
    "其他",
    "该步中既没有计算也没有通信的时间。计算 + 重叠 + 通信 + 其他 = 每步时间，严格相等。",
  ],

  "ranks.transfer_ns": [
    "数据传输时间",
    "由该步调用的通信操作传输数据的时间：取每次操作的最后一段，其长度等于各 rank 执行该操作所需的最短时间。最后到达的 rank 不等待任何 rank。没有操作能与其他 rank 的操作配对时未知。",
  ],
  "ranks.wait_ns": [
    "同步等待时间",
    "由该步调用的通信操作运行的时间 − 数据传输时间 − 未配对时间：等待较晚到达的 rank。没有操作能与其他 rank 的操作配对时未知。",
  ],

  "operations.worker": ["Worker", "跟踪所属的 rank。"],
  "operations.name": ["名称", "通信库和集合通信的名称，取自主机上的调用或内核。"],
  "operations.kind": ["种类", "通信操作的种类，不论通信库如何命名。"],
  "operations.group": ["进程组", "描述和名称；跟踪中没有写明时为空。"],
  "operations.dtype": ["数据类型", "元素的类型，按跟踪中的写法。"],
  "operations.calls": ["调用次数", "该 rank 参与的次数。"],
  "operations.total_bytes": [
    "总大小",
    "该 rank 输入的字节数之和（Σ）：元素数 × 每个元素的字节数。大小未知的调用不计入。",
  ],
  "operations.mean_bytes": ["平均大小", "总大小 ÷ 大小已知的调用次数。"],
  "operations.latency_ns": [
    "总延迟",
    "至少有一次调用在运行的时间：以其内核计；没有内核的通信库以主机上的调用计。",
  ],
  "operations.mean_latency_ns": [
    "平均延迟",
    "每次调用的平均时长。重叠的调用各自全部计入，因此可能大于 总延迟 ÷ 调用次数。",
  ],
  "operations.transfer_ns": [
    "数据传输时间",
    "延迟中不属于等待的部分：取每次调用的最后一段，其长度等于各 rank 执行同一操作所需的最短时间。没有调用被配对时未知。",
  ],
  "operations.mean_transfer_ns": [
    "平均数据传输时间",
    "已配对的调用中，各 rank 执行同一操作所需最短时间的平均值。",
  ],
  "operations.wait_ns": [
    "同步等待时间",
    "总延迟 − 数据传输时间 − 未配对时间。没有调用被配对时未知。",
  ],
  "operations.algbw": [
    "算法带宽",
    "Σ S ÷ Σ 数据传输时间，只计已配对且大小和时间已知的调用；没有时取其余调用的全部时间，其中可能含有等待，因此为下限。S 是按 nccl-tests 的方式计算的大小：对 all-gather、reduce-scatter、gather 和 scatter 为所有 rank 的合计，其余为一个 rank 的大小。",
  ],
  "operations.busbw": [
    "总线带宽",
    "算法带宽乘以系数：all-reduce 为 2(n−1)/n，reduce-scatter、all-gather、all-to-all、gather 和 scatter 为 (n−1)/n，其余为 1；n 是进程组的大小。可与链路速度相比较。",
  ],
  "operations.recognised": [
    "识别依据",
    "据以识别为通信的信息：内核或主机上记录的集合通信参数、主机上的一个范围，或者仅凭内核名称。",
  ],

  "hooks.name": ["钩子", "Lightning 所调用的内容，采用它的命名。"],
  "hooks.calls": ["调用次数", "次数。"],
  "hooks.host_total_ns": ["总耗时", "在主机上的耗时之和（Σ）。"],
  "hooks.host_self_ns": ["自身耗时", "总耗时 − 在其内部直接调用的钩子的耗时之和。"],
  "hooks.max_ns": ["最大", "最长的一次调用。"],
  "hooks.min_ns": ["最小", "最短的一次调用。"],

  "kernels.grid": ["Grid（网格）", "一次启动的线程块数，[x, y, z]。"],
  "kernels.block": ["Block（线程块）", "一个线程块的线程数，[x, y, z]。"],
  "kernels.registers_per_thread": ["每线程寄存器数", "每个线程使用的寄存器数。"],
  "kernels.shared_memory_bytes": ["共享内存", "每个线程块使用的共享内存。"],
  "kernels.operator_tensor_core_eligible": [
    "算子可用 Tensor Core",
    "根据名称判断，启动它的算子是否做矩阵乘法或卷积。",
  ],
  "kernels.tensor_cores_used": [
    "使用 Tensor Core",
    "根据名称判断内核是否使用 Tensor Core。名称无法判断时：若设备对算子输入的类型没有 Tensor Core，则为否，否则未知。",
  ],
  "kernels.calls": ["调用次数", "运行的次数。"],
  "kernels.total_ns": ["总耗时", "各次调用的耗时之和（Σ）。"],
  "kernels.mean_ns": ["平均", "总耗时 ÷ 调用次数。"],
  "kernels.max_ns": ["最大", "最长的一次调用。"],
  "kernels.min_ns": ["最小", "最短的一次调用。"],
  "kernels.mean_blocks_per_sm": [
    "平均每 SM 线程块数",
    "一次启动的线程块数 ÷ 设备的流式多处理器（SM）数；小于 1 时有 SM 空闲。按耗时加权的各次调用平均值。",
  ],

  "modules.id": ["编号", "该项的编号；各项按首次调用的顺序排列。"],
  "modules.parent": ["上级", "调用它的模块的编号；最外层为 -1。"],
  "modules.name": ["模块", "模块的名称：类名加编号，或者在 Lightning 中的路径。"],
  "modules.module_id": ["模块编号", "同名模块中的第几个，按采集时的记录；没有记录时为 -1。"],
  "modules.calls": ["调用次数", "其前向从该处被调用的次数。"],
  "modules.operators": ["算子数", "由模块自己（不含嵌套的模块）调用的算子数。"],
  "modules.host_total_ns": ["主机总耗时", "其前向在主机上的耗时之和（Σ）。"],
  "modules.host_self_ns": [
    "主机自身耗时",
    "主机总耗时 − 其直接内部各算子和模块的耗时之和 − 它自己调用设备 API 的耗时之和：即它的 Python 代码。",
  ],
  "modules.device_total_ns": ["设备总耗时", "在其前向期间启动的内核、拷贝和置位的耗时之和（Σ）。"],
  "modules.device_self_ns": ["设备自身耗时", "设备总耗时 − 其中嵌套的模块的设备总耗时之和。"],
  "modules.backward_host_ns": [
    "反向主机耗时",
    "前向在该模块或其中嵌套的模块内运行的 autograd 节点在主机上的耗时之和（Σ），包括其后的梯度累加。",
  ],
  "modules.backward_device_ns": [
    "反向设备耗时",
    "由这些 autograd 节点启动的内核、拷贝和置位的耗时之和（Σ）。",
  ],
  "modules.mean_host_ns": ["每次调用主机耗时", "（主机总耗时 + 反向主机耗时）÷ 调用次数。"],
  "modules.mean_device_ns": ["每次调用设备耗时", "（设备总耗时 + 反向设备耗时）÷ 调用次数。"],

  "operators.input_shape": [
    "输入形状",
    "各输入的形状，每个参数一个列表；需用 record_shapes=True 采集。",
  ],
  "operators.call_stack": [
    "调用栈",
    "调用所在的 Python 栈帧，最内层在前：取自随算子记录的调用栈，否则取自同一线程上包围它的 Python 函数。",
  ],
  "operators.calls": [
    "调用次数",
    "被调用的次数。若算子内部唯一嵌套的算子与它同名，则合并计为一次。",
  ],
  "operators.device_self_ns": [
    "设备自身耗时",
    "由算子自己（不含它调用的算子）启动的内核、拷贝和置位的耗时之和（Σ）。在多个流上同时运行的工作会累加。",
  ],
  "operators.device_total_ns": ["设备总耗时", "该算子及其调用的所有算子的设备自身耗时之和。"],
  "operators.kernels": ["内核数", "由算子自己（不含它调用的算子）启动的内核数。"],
  "operators.host_self_ns": [
    "主机自身耗时",
    "在主机上的耗时 − 其直接内部各算子的耗时之和 − 它自己调用设备 API 的耗时之和。",
  ],
  "operators.host_total_ns": [
    "主机总耗时",
    "在主机上的耗时之和（Σ）。同一算子的嵌套调用在内外两层都计入。",
  ],
  "operators.api_self_ns": [
    "阻塞在 API 中",
    "它自己对设备运行时或驱动 API 的调用之和（Σ）：启动、拷贝、分配以及在其中的等待。主机自身耗时 + 此项 + 其内部的算子 = 它的耗时。",
  ],
  "api_calls.name": ["调用", "设备的运行时或驱动 API 的函数。"],
  "api_calls.caller": ["调用者", "调用所在的最内层算子，否则为最内层标注；两者都没有时为空。"],
  "api_calls.by_operator": ["由算子调用", "调用者是否为算子。"],
  "api_calls.calls": ["次数", "调用次数。在另一次 API 调用内部的调用是后者的一部分。"],
  "api_calls.total_ns": [
    "总计",
    "在调用者之内的耗时之和（Σ）。耗时长的调用在等待设备、内存或其队列中的空位。",
  ],
  "api_calls.mean_ns": ["平均", "总计 ÷ 次数。"],
  "api_calls.max_ns": ["最长", "最长的一次调用。"],
  "api_calls.longest_row": ["最长的调用", "最长的一次调用在文件中的事件序号。"],
  "operators.tensor_core_eligible": [
    "可用 Tensor Core",
    "该算子是否做矩阵乘法或卷积因而可以使用 Tensor Core，或者启动了这样的内核，或者调用了这样的算子。",
  ],
  "operators.tensor_core_self": [
    "Tensor Core 自身",
    "它自己的内核中已知使用 Tensor Core 的部分的耗时 ÷ 设备自身耗时；若对其中任何内核都无法判断，则为空。",
  ],
  "operators.tensor_core_total": [
    "Tensor Core 总计",
    "由它或它调用的算子启动、已知使用 Tensor Core 的内核的耗时 ÷ 设备总耗时；若对其中任何内核都无法判断，则为空。",
  ],
  "operators.has_call_stack": ["有调用栈", "是否至少有一次调用记录了 Python 栈帧。"],

  "overview.kernel": ["内核", "至少有一个计算内核在设备上运行的时间。通信内核计入“通信”。"],
  "overview.memcpy": ["Memcpy", "设备在拷贝内存（拷入、拷出或设备内）且没有计算内核运行的时间。"],
  "overview.memset": ["Memset", "设备在对内存置位，且没有计算内核和拷贝运行的时间。"],
  "overview.communication": [
    "通信",
    "没有被计算、拷贝或置位掩盖的通信：集合通信的内核。跟踪中没有内核的通信库（gloo、MPI）以主机上的调用（gloo:…）持续的时间计。",
  ],
  "overview.runtime": [
    "运行时",
    "处于设备运行时或驱动 API 的调用（启动、等待）之中，且以上各项均未运行的时间。",
  ],
  "overview.dataloader": [
    "DataLoader",
    "训练循环在等待 DataLoader 或 DataPipe 的下一批数据，且以上各项均未运行的时间。",
  ],
  "overview.cpu_exec": ["CPU 执行", "主机处于算子和优化器的步之中，且以上各项均未运行的时间。"],
  "overview.other": [
    "其他",
    "该步的其余时间：算子之间的 Python 代码，以及对性能分析器未记录的事物的等待。",
  ],
  "overview.kind": [
    "种类",
    "步的种类（如果各步运行不同的程序）：“训练”有反向传播或优化器步；对所有步取的平均值混合了多个程序。",
  ],
  "overview.step": [
    "步时间",
    "步的周期：从上一步的结束到本步的结束。一步在其主机上的标记、其中启动的最后一项设备工作以及上一步都结束时才结束。第一步从其标记开始；若它所用的流此前仍在做更早启动的工作，则从这些工作完成时开始；若它等待了未采集的工作，则比其标记晚开始，所晚的时间等于设备落后于第二步标记的时间。各类别之和恰好等于步的时间。",
  ],

  "slices.row": ["事件", "事件在文件中的序号，从 0 开始计数。"],
  "slices.name": ["名称", "事件的名称，与文件中相同。"],
  "slices.category": ["类别", "事件的类别，各版本的文件统一为一套名称。"],
  "slices.track": ["轨道", "运行的位置：主机的进程和线程，或者设备和流。"],
  "slices.start_ns": ["开始时刻", "距跟踪开始的时间。"],
  "slices.duration_ns": ["耗时", "从开始到结束，包含其内部运行的全部内容。"],

  "path.step": ["步", "这一段所在路径的步。"],
  "path.name": [
    "名称",
    "运行的内容：内核或拷贝；在主机上为最内层的算子、标注或调用，解释器运行处为 Python 函数；延迟则为其后到来的内容。",
  ],
  "path.part": ["部分", "路径的时间在此处用于什么。"],
  "path.start_ns": ["开始时刻", "距跟踪开始的时间。"],
  "path.duration_ns": ["时长", "路径在此处停留多久。"],
  "path.track": ["轨道", "主机的线程，或设备的流；延迟则为空。"],
  "path.row": ["事件", "事件在文件中的编号，从 0 开始。"],
  "stacks.id": ["编号", "代表从最外层到此处的各级名称；相同的调用栈在每个跟踪中编号相同。"],
  "stacks.parent": ["上级", "包围它的那一项所在的行；最外层为 -1。"],
  "stacks.name": [
    "名称",
    "最内层的内容：Python 栈帧为“文件(行): 函数”，其余为模块、算子、标注或设备工作的名称。",
  ],
  "stacks.kind": [
    "种类",
    "frame（Python 函数）、builtin（C 实现的函数）、module（nn.Module 的调用）、annotation（标注）、operator（算子）、device（内核、拷贝或置位）、other（在以上之外的 API 调用）、smaller（合并在一起的项）。",
  ],
  "stacks.role": [
    "作用",
    "设备工作做什么：compute（计算）、communication（集合通信的内核）、copy（拷贝和置位）；主机上对 torch.distributed 的调用也为 communication。其他项为空。",
  ],
  "stacks.short_name": [
    "短名称",
    "设备工作：不含参数和大部分模板参数的名称，与“GPU 内核”视图中相同；其他项为空。",
  ],
  "stacks.self_ns": [
    "自身耗时",
    "主机：它处于最内层的时间。设备：从该处启动的、这一名称的内核、拷贝和置位的耗时之和（Σ）。",
  ],
  "stacks.total_ns": ["总耗时", "自身耗时 + 直接下级各项的总耗时之和。"],
  "stacks.calls": ["调用次数", "在该处开始的次数，或在设备上运行的次数。"],
  "stacks.folded": [
    "合并项数",
    "合并为这一项的项数，因为其中每一项的占比都小于最小占比；其他项为 0。",
  ],

  "traces.trace": ["跟踪", "运行和 worker；有多个 span 时还有 span。"],
  "traces.run": ["运行", "跟踪所在的目录。"],
  "traces.worker": ["Worker", "被记录的进程。"],
  "traces.span": ["Span", "它是该 worker 的哪一次记录。"],
  "traces.devices": ["设备", "运行过内核的设备。"],
  "traces.steps": ["步数", "平均值由多少个步得出。"],
  "traces.slowest_step_ns": ["最慢的步", "各步中最长的一个。"],
  "traces.peak_bytes": [
    "内存峰值",
    "使用内存最多的设备上同时使用的最大内存；没有记录设备时为主机的内存。",
  ],
  "traces.top_operator": ["最大的算子", "自身耗时最多的算子。"],
  "traces.top_kernel": ["最大的内核", "耗时最多的内核。"],

  "traces_by_name.name": ["名称", "算子或内核的名称。"],
  "traces_by_name.spread": ["差距", "此行中最大值 − 最小值；没有该项的跟踪计为 0。"],

  "kernels.operator": [
    "算子",
    "启动它的最内层算子；括号内是其他归属：将其捕获到图中的算子、标注、模块、Python 栈帧或线程。",
  ],
  "kernels.mean_achieved_occupancy": [
    "平均估算实际占用率",
    "活动 warp 数 ÷ 一个 SM 最多可容纳的 warp 数，由性能分析器估算，否则由启动配置计算（计算能力 7.0、7.5、8.0 和 9.0）。取占用率已知的调用按耗时加权的平均值。全部未知时为空。",
  ],
  "kernels.occupancy_known_share": ["占用率已知", "占用率已知的调用的耗时 ÷ 该行所有调用的耗时。"],
  "overlap.communication_only_ns": [
    "通信",
    "步中 rank 的任一设备上有通信而没有计算的时间。通信指其内核；没有内核的库（gloo、MPI）指主机上的调用。",
  ],
  "overview.busy": [
    "设备忙碌",
    "各步中设备上至少有一个内核、拷贝或置位在运行的时间 ÷ 各步的时间；取运行过内核的设备的平均值。",
  ],
  "overview.computing": [
    "计算中",
    "各步中设备上至少有一个计算内核在运行的时间 ÷ 各步的时间；取运行过内核的设备的平均值。通信、拷贝和置位不计入。",
  ],
  "overview.communicating": [
    "通信中",
    "各步中设备上至少有一个通信内核在运行的时间 ÷ 各步的时间，无论是否被计算掩盖；取运行过内核的设备的平均值。只能从主机上的调用得知通信（gloo、MPI）时为空。",
  ],
  "overview.exposed_communication": [
    "暴露的通信",
    "各步中设备上有通信内核运行而没有计算内核运行的时间 ÷ 各步的时间；取运行过内核的设备的平均值。拷贝不掩盖通信。只能从主机上的调用得知通信（gloo、MPI）时为空。",
  ],
  "overview.sm_efficiency": [
    "估算 SM 效率",
    "计算内核能占满设备多处理器（SM）的程度。每一时刻把正在运行的计算内核的每 SM 线程块数相加，最多为 1；再对各步的时间取平均。由启动配置估算，并非测量值。",
  ],
  "overview.achieved_occupancy": [
    "估算实际占用率",
    "活动 warp 数 ÷ 一个 SM 最多可容纳的 warp 数，由性能分析器对每个内核估算，否则由启动配置计算（计算能力 7.0、7.5、8.0 和 9.0）；取占用率已知的计算内核按耗时加权的平均值。",
  ],
  "overview.occupancy_known_share": [
    "占用率已知",
    "占用率已知的计算内核的耗时 ÷ 所有计算内核的耗时。",
  ],
  "overview.tensor_cores_yes": [
    "使用 Tensor Core",
    "根据名称已知使用 Tensor Core 的计算内核的耗时 ÷ 所有计算内核的耗时；若对其中任何内核都无法判断，则为空。",
  ],
  "overview.tensor_cores_no": [
    "未使用 Tensor Core",
    "根据名称已知不使用 Tensor Core 的计算内核的耗时 ÷ 所有计算内核的耗时；若对其中任何内核都无法判断，则为空。",
  ],
  "overview.tensor_cores_unknown": [
    "Tensor Core 未知",
    "无法根据名称判断是否使用 Tensor Core 的计算内核的耗时 ÷ 所有计算内核的耗时。",
  ],
  "traces.exposed_communication_ns": [
    "每步暴露的通信",
    "平均每步中设备上有通信内核运行而没有计算内核运行的时间；取运行过内核的设备的平均值。拷贝不掩盖通信。",
  ],
  "ranks.exposed_communication_ns": [
    "暴露的通信",
    "步中设备上有通信内核运行而没有计算内核运行的时间；拷贝不掩盖通信。取各设备的平均值。只能从主机上的调用得知通信（gloo、MPI）时为空。",
  ],
  "parts.duration_ns": ["主机", "在主机上的耗时之和（Σ）。"],
  "parts.device_ns": ["设备", "在其中启动的内核、拷贝和置位的耗时之和（Σ）。"],
  "parts.total_ns": ["时间", "各节点的设备时间之和（Σ）；没有设备时间的节点计其耗时。"],
  "kernels.short_name": [
    "简称",
    "去掉参数和大部分模板实参后的名称，保留说明内核作用的部分：函子、分块和元素类型。",
  ],
  "kernels.kind": [
    "种类",
    "根据内核名称判断的工作种类：gemm、conv、attention、communication、norm、pointwise 等。helper 为另一个内核做准备或收尾。名称未知时为空。",
  ],
  "kernels.library": [
    "库",
    "根据名称判断内核来自哪个库；内核同名的库会列出多个。名称无法说明时为空。",
  ],
  "ranks.unmatched_ns": [
    "未配对时间",
    "由该步调用、但无法与其他 rank 的操作配对的通信操作运行，而没有已配对的操作在传输数据的时间：是等待还是传输未知。",
  ],
  "operations.matched": ["已配对的调用", "其他 rank 的跟踪中也有的调用，因此可以区分等待与传输。"],
  "operations.unmatched_ns": [
    "未配对时间",
    "延迟中未配对的调用在运行、而没有已配对的调用在传输数据的部分。",
  ],
  ...memoryColumns,
  ...programColumns,
  ...rooflineColumns,
};
