/** Labels and definitions of columns, and other sentences of the server, by their English text. */
export const texts: Record<string, string> = {
  // Labels.
  Trace: "跟踪",
  "Run, worker, and the span where there are several.": "运行和 worker；有多个 span 时还有 span。",
  Run: "运行",
  "The directory of the trace.": "跟踪所在的目录。",
  "The process that was recorded.": "被记录的进程。",
  Span: "Span",
  "Which recording of the worker it is.": "它是该 worker 的哪一次记录。",
  Devices: "设备",
  "The devices that ran kernels.": "运行过内核的设备。",
  Steps: "步骤数",
  "How many steps the averages are made of.": "平均值由多少个步骤得出。",
  "Step time": "步骤时间",
  "Slowest step": "最慢的步骤",
  "The longest of the steps.": "各步骤中最长的一个。",
  "Est. SM efficiency": "估算 SM 效率",
  "Kernels running": "正在运行的内核",
  "Launched, not begun": "已启动未开始",
  "Copy bandwidth": "拷贝带宽",
  "Memory allocated": "已分配内存",
  "Memory reserved": "已预留内存",
  "Est. achieved occupancy": "估算实际占用率",
  Kernel: "内核",
  Memcpy: "Memcpy",
  Memset: "Memset",
  Runtime: "运行时",
  DataLoader: "DataLoader",
  "CPU Exec": "CPU 执行",
  "Exposed communication": "暴露的通信",
  "Memory peak": "内存峰值",
  "Most memory in use at once on the device that used most; on the host where no device was recorded.":
    "使用内存最多的设备上同时使用的最大内存；没有记录设备时为主机的内存。",
  "Largest operator": "最大的算子",
  "The operator with most self time.": "自身耗时最多的算子。",
  "Largest kernel": "最大的内核",
  "The kernel with most time.": "耗时最多的内核。",
  "Name of the operator or kernel.": "算子或内核的名称。",
  Spread: "差距",
  "The largest of the numbers in this row − the smallest; a trace without it counts as 0.":
    "此行中最大值 − 最小值；没有该项的跟踪计为 0。",
  Name: "名称",
  Calls: "调用次数",
  "Device self": "设备自身耗时",
  "Device total": "设备总耗时",
  Kernels: "内核数",
  "Host self": "主机自身耗时",
  "Host total": "主机总耗时",
  "Tensor cores eligible": "可用 Tensor Core",
  "Tensor cores self": "Tensor Core 自身",
  "Tensor cores total": "Tensor Core 总计",
  "Has call stacks": "有调用栈",
  "Input shapes": "输入形状",
  "Call stack": "调用栈",
  "Tensor cores used": "使用 Tensor Core",
  Total: "总耗时",
  Mean: "平均",
  Max: "最大",
  Min: "最小",
  "Mean blocks per SM": "平均每 SM 线程块数",
  "Mean est. achieved occupancy": "平均估算实际占用率",
  Operator: "算子",
  Grid: "Grid（网格）",
  Block: "Block（线程块）",
  "Registers per thread": "每线程寄存器数",
  "Shared memory": "共享内存",
  "Operator eligible": "算子可用 Tensor Core",
  "Size increase": "内存增量",
  "Self size increase": "自身内存增量",
  Allocations: "分配次数",
  "Self allocations": "自身分配次数",
  "Allocated size": "分配大小",
  "Self allocated size": "自身分配大小",
  Device: "设备",
  "Called by": "调用者",
  Size: "大小",
  "Allocated at": "分配时间",
  "Released at": "释放时间",
  Lifetime: "存活时间",
  Module: "模块",
  "Module id": "模块编号",
  Operators: "算子数",
  "Backward host": "反向主机耗时",
  "Backward device": "反向设备耗时",
  "Host per call": "每次调用主机耗时",
  "Device per call": "每次调用设备耗时",
  Computation: "计算",
  Overlapping: "重叠",
  Communication: "通信",
  Other: "其他",
  "Data transfer time": "数据传输时间",
  "Synchronizing time": "同步等待时间",
  Worker: "Worker",
  Kind: "种类",
  "Process group": "进程组",
  "Data type": "数据类型",
  "Total size": "总大小",
  "Average size": "平均大小",
  "Total latency": "总延迟",
  "Average latency": "平均延迟",
  "Average data transfer time": "平均数据传输时间",
  "Algorithm bandwidth": "算法带宽",
  "Bus bandwidth": "总线带宽",
  "Recognised by": "识别依据",
  Id: "编号",
  Parent: "上级",
  Hook: "钩子",
  Self: "自身耗时",
  Folded: "合并项数",
  Path: "路径",
  Baseline: "基线",
  Experiment: "实验",
  "Has parts": "可展开",
  Host: "主机",
  Time: "时间",
  Event: "事件",
  Category: "类别",
  Track: "轨道",
  Start: "开始时刻",
  Duration: "耗时",

  // Definitions.
  "Name of the operator.": "算子的名称。",
  "Name of the kernel.": "内核的名称。",
  "How often it ran.": "运行的次数。",
  "How often it was called. An operator whose only nested operator has the same name counts once with it.":
    "被调用的次数。若算子内部唯一嵌套的算子与它同名，则合并计为一次。",
  "Σ durations of the kernels, copies and fills launched by the operator itself, not by operators it called. Work that runs at the same time on several streams is added up.":
    "由算子自己（不含它调用的算子）启动的内核、拷贝和置位的耗时之和（Σ）。在多个流上同时运行的工作会累加。",
  "Device self of the operator and of all operators it called.":
    "该算子及其调用的所有算子的设备自身耗时之和。",
  "Kernels launched by the operator itself, not by operators it called.":
    "由算子自己（不含它调用的算子）启动的内核数。",
  "Duration on the host − Σ of the operators directly inside it − Σ of its own calls of the device's API.":
    "在主机上的耗时 − 其直接内部各算子的耗时之和 − 它自己调用设备 API 的耗时之和。",
  "Σ durations on the host. A call inside another call of the same operator counts in both.":
    "在主机上的耗时之和（Σ）。同一算子的嵌套调用在内外两层都计入。",
  "Whether the operator multiplies matrices or convolves and so can use tensor cores, or calls one that does, or was seen using them.":
    "该算子是否做矩阵乘法或卷积因而可以使用 Tensor Core，或者调用了这样的算子，或者实际使用过 Tensor Core。",
  "Duration of its own kernels known to use tensor cores ÷ device self; empty where it is known of none of them.":
    "它自己的内核中已知使用 Tensor Core 的部分的耗时 ÷ 设备自身耗时；若对其中任何内核都无法判断，则为空。",
  "Duration of kernels known to use tensor cores, launched by it or by operators it called ÷ device total; empty where it is known of none of them.":
    "由它或它调用的算子启动、已知使用 Tensor Core 的内核的耗时 ÷ 设备总耗时；若对其中任何内核都无法判断，则为空。",
  "Whether Python frames are known for at least one of its calls.":
    "是否至少有一次调用记录了 Python 栈帧。",
  "Shapes of the inputs, one list per argument; recorded with record_shapes=True.":
    "各输入的形状，每个参数一个列表；需用 record_shapes=True 采集。",
  "The Python frames around the call, innermost first: as recorded with the operator, else from the Python functions that enclose it on the same thread.":
    "调用所在的 Python 栈帧，最内层在前：取自随算子记录的调用栈，否则取自同一线程上包围它的 Python 函数。",
  "Whether the kernel uses tensor cores, judged by its name; unknown where the name leaves it open.":
    "内核是否使用 Tensor Core，根据名称判断；名称无法判断时为未知。",
  "Σ durations of its calls.": "各次调用的耗时之和（Σ）。",
  "Total ÷ calls.": "总耗时 ÷ 调用次数。",
  "Longest call.": "最长的一次调用。",
  "Shortest call.": "最短的一次调用。",
  "Blocks of the launch ÷ multiprocessors (SMs) of the device; below 1 some SMs stay empty. Mean over the calls, weighted by duration.":
    "一次启动的线程块数 ÷ 设备的流式多处理器（SM）数；小于 1 时有 SM 空闲。按耗时加权的各次调用平均值。",
  "The innermost operator that launched it; in parentheses what else owns it: who captured it into a graph, an annotation, a module, a Python frame, a thread.":
    "启动它的最内层算子；括号内是其他归属：将其捕获到图中的算子、标注、模块、Python 栈帧或线程。",
  "Blocks of the launch, [x, y, z].": "一次启动的线程块数，[x, y, z]。",
  "Threads of a block, [x, y, z].": "一个线程块的线程数，[x, y, z]。",
  "Registers each thread uses.": "每个线程使用的寄存器数。",
  "Shared memory each block uses.": "每个线程块使用的共享内存。",
  "Whether the operator that launched it multiplies matrices or convolves, by its name.":
    "根据名称判断，启动它的算子是否做矩阵乘法或卷积。",
  "How often it was called while the time range lasted, whether a call changed memory or not; over the whole trace as in the operator view.":
    "在时间范围内被调用的次数，无论该次调用是否改变内存；对整个跟踪而言与“算子”视图相同。",
  "Σ bytes allocated − Σ bytes released by the operator and everything it called. Negative when it released more. A call inside another call of the same operator counts once.":
    "该算子及其调用的全部内容所分配的字节数之和 − 所释放的字节数之和。释放得更多时为负。同一算子的嵌套调用只计一次。",
  "Σ bytes allocated − Σ bytes released by the operator itself, not by operators it called.":
    "由算子自己（不含它调用的算子）分配的字节数之和 − 释放的字节数之和。",
  "Allocations by the operator and everything it called.": "该算子及其调用的全部内容的分配次数。",
  "Allocations by the operator itself, not by operators it called.":
    "由算子自己（不含它调用的算子）进行的分配次数。",
  "Σ bytes allocated by the operator and everything it called; releases are not taken away.":
    "该算子及其调用的全部内容所分配的字节数之和，不减去释放的字节数。",
  "Σ bytes allocated by the operator itself, not by operators it called; releases are not taken away.":
    "由算子自己（不含它调用的算子）分配的字节数之和，不减去释放的字节数。",
  "Where the memory is: CPU, or type and number of the device.":
    "内存所在之处：CPU，或者设备的类型和编号。",
  "The innermost operator that made the allocation; empty when it was made outside of operators, or before the recording began.":
    "进行此次分配的最内层算子；若在算子之外或在采集开始之前分配，则为空。",
  "The operator or annotation that encloses that operator; tells what an aten::empty was for.":
    "包围该算子的算子或标注；可看出 aten::empty 的用途。",
  "Bytes of the allocation, as the allocator counts them.":
    "此次分配的字节数，以分配器的统计为准。",
  "Time of the allocation since the start of the trace; empty when it happened before the recording began.":
    "分配的时刻，从跟踪开始算起；若在采集开始之前分配，则为空。",
  "Time of the release since the start of the trace; empty when it was not recorded. The allocator may keep what is released as reserved memory.":
    "释放的时刻，从跟踪开始算起；没有记录时为空。分配器可能将所释放的内存继续保留为已预留的内存。",
  "Released at − allocated at.": "释放时间 − 分配时间。",
  "Time of the step in which a compute kernel ran on a device and no communication. In a trace without compute kernels: an operator or optimizer step on the host.":
    "该步中设备上有计算内核在运行且没有通信的时间。跟踪中没有计算内核时：主机上有算子或优化器步骤在运行的时间。",
  "Time of the step in which computation and communication ran at the same time.":
    "该步中计算与通信同时进行的时间。",
  "Time of the step with neither. Computation + Overlapping + Communication + Other = step time, exactly.":
    "该步中既没有计算也没有通信的时间。计算 + 重叠 + 通信 + 其他 = 每步时间，严格相等。",
  "Time in which operations that the step called moved data: of each operation the last part, as long as the shortest time that any rank needed for it. The rank that comes last waits for nobody. Not known where no operation could be matched with another rank's.":
    "由该步调用的通信操作传输数据的时间：取每次操作的最后一段，其长度等于各 rank 执行该操作所需的最短时间。最后到达的 rank 不等待任何 rank。没有操作能与其他 rank 的操作配对时未知。",
  "Time in which operations that the step called ran − data transfer time − unmatched time: waiting for ranks that came later. Not known where no operation could be matched with another rank's.":
    "由该步调用的通信操作运行的时间 − 数据传输时间 − 未配对时间：等待较晚到达的 rank。没有操作能与其他 rank 的操作配对时未知。",
  "The rank whose trace it is.": "跟踪所属的 rank。",
  "Library and collective, as called on the host or by the kernel.":
    "通信库和集合通信的名称，取自主机上的调用或内核。",
  "What it does, whatever the library calls it.": "通信操作的种类，不论通信库如何命名。",
  "Description and name; empty when the trace does not say.": "描述和名称；跟踪中没有写明时为空。",
  "Type of the elements, as the trace writes it.": "元素的类型，按跟踪中的写法。",
  "How often the rank took part in it.": "该 rank 参与的次数。",
  "Σ bytes that the rank put in: elements × bytes of an element. Calls of unknown size are left out.":
    "该 rank 输入的字节数之和（Σ）：元素数 × 每个元素的字节数。大小未知的调用不计入。",
  "Total size ÷ calls of known size.": "总大小 ÷ 大小已知的调用次数。",
  "Time in which at least one of the calls ran: its kernels; of libraries without kernels the call on the host.":
    "至少有一次调用在运行的时间：以其内核计；没有内核的通信库以主机上的调用计。",
  "Total latency ÷ calls.": "总延迟 ÷ 调用次数。",
  "The part of the latency that was not waiting: of each call the last part, as long as the shortest time that any rank needed for the same operation. Not known where no call was matched.":
    "延迟中不属于等待的部分：取每次调用的最后一段，其长度等于各 rank 执行同一操作所需的最短时间。没有调用被配对时未知。",
  "Data transfer time ÷ matched calls.": "数据传输时间 ÷ 已配对的调用次数。",
  "Total latency − data transfer time − unmatched time. Not known where no call was matched.":
    "总延迟 − 数据传输时间 − 未配对时间。没有调用被配对时未知。",
  "Unmatched time": "未配对时间",
  "Matched calls": "已配对的调用",
  "Calls that another rank's trace has, too, so that waiting can be told from transferring.":
    "其他 rank 的跟踪中也有的调用，因此可以区分等待与传输。",
  "The part of the latency in which calls ran that were not matched, and no matched one moved data.":
    "延迟中未配对的调用在运行、而没有已配对的调用在传输数据的部分。",
  "Time in which operations that the step called ran that could not be matched with another rank's, and no matched one moved data: waiting or transfer, which of them is not known.":
    "由该步调用、但无法与其他 rank 的操作配对的通信操作运行，而没有已配对的操作在传输数据的时间：是等待还是传输未知。",
  "Σ S ÷ Σ data transfer time, over matched calls whose size and time are known; where there is none, over the whole time of the others, which may hold waiting, so that it is a lower bound. S is the size as nccl-tests counts it: of all ranks together for all-gather, reduce-scatter, gather and scatter, else of one rank.":
    "Σ S ÷ Σ 数据传输时间，只计已配对且大小和时间已知的调用；没有时取其余调用的全部时间，其中可能含有等待，因此为下限。S 是按 nccl-tests 的方式计算的大小：对 all-gather、reduce-scatter、gather 和 scatter 为所有 rank 的合计，其余为一个 rank 的大小。",
  "Algorithm bandwidth × 2(n−1)/n for all-reduce, × (n−1)/n for reduce-scatter, all-gather, all-to-all, gather and scatter, × 1 for the others; n is the size of the process group. Comparable with the speed of the link.":
    "算法带宽乘以系数：all-reduce 为 2(n−1)/n，reduce-scatter、all-gather、all-to-all、gather 和 scatter 为 (n−1)/n，其余为 1；n 是进程组的大小。可与链路速度相比较。",
  "What says that it is communication: arguments of the collective on the kernel or on the host, a range on the host, or only the name of the kernel.":
    "据以识别为通信的信息：内核或主机上记录的集合通信参数、主机上的一个区间，或者仅凭内核名称。",
  "Number of the entry; entries stand in the order of first calls.":
    "该项的编号；各项按首次调用的顺序排列。",
  "Id of the module that calls it; -1 at the top.": "调用它的模块的编号；最外层为 -1。",
  "Name of the module: its class and a number, or its path in Lightning.":
    "模块的名称：类名加编号，或者在 Lightning 中的路径。",
  "Which of the modules of that name, as recorded; -1 if it is not.":
    "同名模块中的第几个，按采集时的记录；没有记录时为 -1。",
  "How often its forward was called from there.": "其前向从该处被调用的次数。",
  "Operators that it called itself, not nested modules.":
    "由模块自己（不含嵌套的模块）调用的算子数。",
  "Σ durations of its forward on the host.": "其前向在主机上的耗时之和（Σ）。",
  "Host total − Σ of the operators and modules directly inside − Σ of its own calls of the device's API: its Python.":
    "主机总耗时 − 其直接内部各算子和模块的耗时之和 − 它自己调用设备 API 的耗时之和：即它的 Python 代码。",
  "Σ durations of the kernels, copies and fills launched during its forward.":
    "在其前向期间启动的内核、拷贝和置位的耗时之和（Σ）。",
  "Device total − Σ device total of the modules nested in it.":
    "设备总耗时 − 其中嵌套的模块的设备总耗时之和。",
  "Σ durations on the host of the autograd nodes whose forward ran in it or in a module nested in it, with the accumulation of gradients that follows each.":
    "前向在该模块或其中嵌套的模块内运行的 autograd 节点在主机上的耗时之和（Σ），包括其后的梯度累加。",
  "Σ durations of the kernels, copies and fills launched by these autograd nodes.":
    "由这些 autograd 节点启动的内核、拷贝和置位的耗时之和（Σ）。",
  "(Host total + backward host) ÷ calls.": "（主机总耗时 + 反向主机耗时）÷ 调用次数。",
  "(Device total + backward device) ÷ calls.": "（设备总耗时 + 反向设备耗时）÷ 调用次数。",
  "What Lightning called, as it names it.": "Lightning 所调用的内容，采用它的命名。",
  "How often.": "次数。",
  "Σ durations on the host.": "在主机上的耗时之和（Σ）。",
  "Total − Σ of the hooks called directly inside it.":
    "总耗时 − 在其内部直接调用的钩子的耗时之和。",
  "Stands for the names from the top down to it; the same stack has it in every trace.":
    "代表从最外层到此处的各级名称；相同的调用栈在每个跟踪中编号相同。",
  "Row of what is around it; -1 at the top.": "包围它的那一项所在的行；最外层为 -1。",
  "What is innermost: file(line): function of a Python frame, else the name of the module, operator, annotation or device work.":
    "最内层的内容：Python 栈帧为“文件(行): 函数”，其余为模块、算子、标注或设备工作的名称。",
  "frame (Python function), builtin (function in C), module (call of nn.Module), annotation, operator, device (kernel, copy or fill), other (an API call outside of all these), smaller (entries folded together).":
    "frame（Python 函数）、builtin（C 实现的函数）、module（nn.Module 的调用）、annotation（标注）、operator（算子）、device（内核、拷贝或置位）、other（在以上之外的 API 调用）、smaller（合并在一起的项）。",
  "Host: time in which it was innermost. Device: Σ durations of the kernels, copies and fills of this name launched from there.":
    "主机：它处于最内层的时间。设备：从该处启动的、这一名称的内核、拷贝和置位的耗时之和（Σ）。",
  "Self + Σ total of the entries directly below.": "自身耗时 + 直接下级各项的总耗时之和。",
  "How often it began there, or ran on the device.": "在该处开始的次数，或在设备上运行的次数。",
  "Entries that are together this one, because each has less than the smallest share; 0 for all others.":
    "合并为这一项的项数，因为其中每一项的占比都小于最小占比；其他项为 0。",
  "Where the part is: 0 is everything, 0-2 its third part.":
    "该部分的位置：0 为全部，0-2 为其中的第三个部分。",
  "Name of the part in the baseline; of several that stand between two pairs the first and the last; empty when the baseline has nothing there.":
    "该部分在基线中的名称；两个配对之间有多个部分时为第一个和最后一个；基线在该处没有内容时为空。",
  "The same in the experiment.": "在实验中的名称，规则相同。",
  "What it is on both sides (module, backward, dataloader, optimizer, step, label, communication, operator), or group.":
    "两边共同的种类（模块、反向、数据加载、优化器、步、标注、通信、算子），或者为组。",
  "Whether it consists of parts that belong together.": "是否由两边能够对应的部分组成。",
  "Σ durations of the kernels, copies and fills launched in it.":
    "在其中启动的内核、拷贝和置位的耗时之和（Σ）。",
  "Σ of the device time of each node, of nodes without any the duration.":
    "各节点的设备时间之和（Σ）；没有设备时间的节点计其耗时。",
  "Number of the event in the file, counted from 0.": "事件在文件中的序号，从 0 开始计数。",
  "Name of the event, as the file has it.": "事件的名称，与文件中相同。",
  "What the event is, in one vocabulary for files of all versions.":
    "事件的类别，各版本的文件统一为一套名称。",
  "Where it ran: process and thread of the host, or device and stream.":
    "运行的位置：主机的进程和线程，或者设备和流。",
  "Time since the start of the trace.": "距跟踪开始的时间。",
  "From its start to its end, with everything that ran inside of it.":
    "从开始到结束，包含其内部运行的全部内容。",

  // The overview.
  "Time in which at least one compute kernel ran on a device. Communication kernels count as Communication.":
    "至少有一个计算内核在设备上运行的时间。通信内核计入“通信”。",
  "Time in which a device copied memory (to, from or within a device) and no compute kernel ran.":
    "设备在拷贝内存（拷入、拷出或设备内）且没有计算内核运行的时间。",
  "Time in which a device filled memory and neither a compute kernel nor a copy ran.":
    "设备在对内存置位，且没有计算内核和拷贝运行的时间。",
  "Communication not hidden behind compute, copies or fills: the kernels of collectives. A library without kernels in the trace (gloo, MPI) communicates while its calls on the host last (gloo:…).":
    "没有被计算、拷贝或置位掩盖的通信：集合通信的内核。跟踪中没有内核的通信库（gloo、MPI）以主机上的调用（gloo:…）持续的时间计。",
  "Time in calls of the device's runtime or driver API (launches, waits) while none of the above ran.":
    "处于设备运行时或驱动 API 的调用（启动、等待）之中，且以上各项均未运行的时间。",
  "Time in which the training loop waited for the next batch of a DataLoader or DataPipe and none of the above ran.":
    "训练循环在等待 DataLoader 或 DataPipe 的下一批数据，且以上各项均未运行的时间。",
  "Time in operators and optimizer steps on the host while none of the above ran.":
    "主机处于算子和优化器步骤之中，且以上各项均未运行的时间。",
  "The rest of the step: Python between operators, and waiting for something the profiler does not record.":
    "该步的其余时间：算子之间的 Python 代码，以及对 profiler 未记录的事物的等待。",
  "From the start of a step on the host to its end there, or to the end of the last device work it launched if that is later. A step starts where the one before ended at the earliest. The categories of a step add up to its time exactly.":
    "从该步在主机上开始，到它在主机上结束为止；若它启动的最后一项设备工作结束得更晚，则到该工作结束为止。一步最早从上一步结束处开始。一步的各类别之和与其时间严格相等。",

  // Links.
  "Single- and multi-process data loading": "单进程与多进程数据加载",
  "Communication hooks of DDP": "DDP 通信钩子",
  "Gradient accumulation": "梯度累积",
  LAMB: "LAMB 优化器",
  "Use DistributedDataParallel instead of DataParallel":
    "用 DistributedDataParallel 代替 DataParallel",
  "Which backend to use": "如何选择后端",
  "Automatic mixed precision": "自动混合精度",
  Checkpointing: "梯度检查点",

  // Remedies that are not code alone.
  "CUDA 13.1 or newer": "CUDA 13.1 或更新版本",
  "PyTorch 2.4 or newer writes nanoseconds": "PyTorch 2.4 或更新版本以纳秒记录",
  "profile(with_modules=True) or profile(with_stack=True)":
    "profile(with_modules=True) 或 profile(with_stack=True)",
  "profile(with_stack=False)  # when stacks are not needed":
    "profile(with_stack=False)  # 不需要调用栈时",
  "profile(with_stack=False, profile_memory=False)  # or record fewer steps":
    "profile(with_stack=False, profile_memory=False)  # 或者采集更少的步",
  "torch.cuda.synchronize()  # before the profiler stops":
    "torch.cuda.synchronize()  # 在 profiler 停止之前",
  "prof.step()  # at the end of every iteration": "prof.step()  # 在每次迭代结束时",
  "torch.distributed.init_process_group()  # before the profiler starts":
    "torch.distributed.init_process_group()  # 在 profiler 启动之前",

  // What the system says, and what to do about a storage.
  "Permission denied": "没有权限",
  "No such file or directory": "文件或目录不存在",
  "Input/output error": "读写出错",
  "It is tried again, more slowly": "会放慢后重试",
  "Check the network and the address; it is tried again": "请检查网络和地址；会自动重试",
  "Set it (NTP): requests are signed with the time": "请校准时钟（NTP）：请求的签名包含时间",
  "The user of this process must be allowed to read there (HADOOP_USER_NAME names another)":
    "本进程的用户需要读取权限（HADOOP_USER_NAME 可指定其他用户）",
  "Check the path": "请检查路径",
  "Get a ticket with kinit": "请用 kinit 获取票据",
  "Check the address": "请检查地址",
  "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_SESSION_TOKEN), or AWS_PROFILE":
    "请设置 AWS_ACCESS_KEY_ID 和 AWS_SECRET_ACCESS_KEY（以及 AWS_SESSION_TOKEN），或者 AWS_PROFILE",
  "s3:ListBucket on the bucket and s3:GetObject on its objects must be allowed":
    "需要存储桶的 s3:ListBucket 权限和对象的 s3:GetObject 权限",
  "Check the bucket and S3_ENDPOINT": "请检查存储桶和 S3_ENDPOINT",
  "Check the network, S3_ENDPOINT and S3_USE_HTTPS; it is tried again":
    "请检查网络、S3_ENDPOINT 和 S3_USE_HTTPS；会自动重试",
  "Set AWS_REGION to the region of the bucket, and S3_ENDPOINT for a server that is not AWS":
    "请将 AWS_REGION 设为存储桶的区域；服务器不是 AWS 时还要设置 S3_ENDPOINT",
  "Set AZURE_STORAGE_CONNECTION_STRING to one of this account, put a SAS behind the address, or install azure-identity and sign in":
    "请将 AZURE_STORAGE_CONNECTION_STRING 设为此账户的连接字符串，或在地址后附上 SAS，或安装 azure-identity 并登录",
  "The role Storage Blob Data Reader, or a SAS with read and list (sp=rl), is needed":
    "需要 Storage Blob Data Reader 角色，或具有读取和列出权限（sp=rl）的 SAS",
  "Check account and container; without credentials a private container looks like that, too":
    "请检查账户和容器；没有凭据时，私有容器看起来也是这样",
  "Check the account's name and BlobEndpoint in AZURE_STORAGE_CONNECTION_STRING":
    "请检查账户名和 AZURE_STORAGE_CONNECTION_STRING 中的 BlobEndpoint",
  "Set GOOGLE_APPLICATION_CREDENTIALS to a key file, or run: gcloud auth application-default login":
    "请将 GOOGLE_APPLICATION_CREDENTIALS 设为密钥文件，或运行：gcloud auth application-default login",
  "The role Storage Object Viewer on the bucket is needed":
    "需要存储桶的 Storage Object Viewer 角色",
  "Check the bucket and STORAGE_EMULATOR_HOST": "请检查存储桶和 STORAGE_EMULATOR_HOST",
  "Check STORAGE_EMULATOR_HOST": "请检查 STORAGE_EMULATOR_HOST",
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
