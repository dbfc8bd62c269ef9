/**
 * What the server says in English and always in the same words: labels and definitions of columns. Found by the English
 * text, so that one that has changed is shown in English and not wrongly.
 */
export const server: Record<string, string> = {
  // Labels.
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

  // Definitions.
  "Name of the operator.": "算子的名称。",
  "Name of the kernel.": "内核的名称。",
  "How often it ran.": "运行的次数。",
  "How often it was called. An operator whose only nested operator has the same name counts once with it.":
    "被调用的次数。若算子内部唯一嵌套的算子与它同名，则合并计为一次。",
  "Σ durations of the kernels, copies and fills launched by the operator itself, not by operators it called. Work that runs at the same time on several streams is added up.":
    "由算子自己（不含它调用的算子）启动的内核、拷贝和填充的耗时之和（Σ）。在多个流上同时运行的工作会累加。",
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
  "Duration of its own kernels known to use tensor cores ÷ device self.":
    "它自己的内核中已知使用 Tensor Core 的部分的耗时 ÷ 设备自身耗时。",
  "Duration of kernels known to use tensor cores, launched by it or by operators it called ÷ device total.":
    "由它或它调用的算子启动、已知使用 Tensor Core 的内核的耗时 ÷ 设备总耗时。",
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
  "Active warps ÷ most warps an SM can hold, as estimated by the profiler. Mean over the calls, weighted by duration.":
    "活跃 warp 数 ÷ 一个 SM 可容纳的最大 warp 数，由 profiler 估算。按耗时加权的各次调用平均值。",
  "The innermost operator that launched it; in parentheses the API call when that was outside any operator.":
    "启动它的最内层算子；若不在任何算子之内，则在括号中给出 API 调用。",
  "Blocks of the launch, [x, y, z].": "一次启动的线程块数，[x, y, z]。",
  "Threads of a block, [x, y, z].": "一个线程块的线程数，[x, y, z]。",
  "Registers each thread uses.": "每个线程使用的寄存器数。",
  "Shared memory each block uses.": "每个线程块使用的共享内存。",
  "Whether the operator that launched it multiplies matrices or convolves, by its name.":
    "根据名称判断，启动它的算子是否做矩阵乘法或卷积。",
};
