import type { ServerMessages, Values } from "../values";
import { ms, percent } from "./numbers";
import { columns, platforms, words } from "./server/words";
import { reasons } from "./serverReasons";
import { stepKinds } from "./serverStepKinds";

const ZERO_TIMESTAMPS =
  "CUDA 12.6 Update 2 至 13.0 有时会给内核的时间戳记为零，性能分析器会丢弃这些内核（pytorch#192021）。";

const NEWER_CUDA = "CUDA 13.1 或更新版本";

/** Why a trace has no kernels although the program used a device, by what shows that it did. */
const NO_DEVICE: Readonly<Record<string, string>> = {
  ascend: "这是 torch_npu 的跟踪：不读取其设备（Ascend Hardware）的工作。",
  launches: "设备没有被采集，而程序在其上启动了工作。",
  waits: "设备没有被采集，而程序等待了它的工作。",
  communication: "设备没有被采集，而程序调用了设备之间的集合通信。",
  allocations: "设备没有被采集，而程序在其上分配了内存。",
  operators: "设备没有被采集，而程序的算子在其上运行。",
  properties: "此机器的设备没有被采集：不知道程序是否使用了它。",
  copies: "采集到了拷贝，却没有采集到程序启动的任何内核。",
};

const ASKED_FOR =
  "性能分析器采集了对设备 API 的调用，因此已被要求采集设备：负责采集的库（CUPTI、roctracer）无法使用或没有权限，有其他性能分析器在使用它，或者其缓冲区丢失。";

const REPAIRED = "文件内容不是有效的 JSON；";

/** Some names, and how many more there are. */
const listed = (names: unknown, more: unknown) => `${names}${more ? ` 等（另有 ${more} 个）` : ""}`;

/** The kinds of steps that a note names: its values end in their numbers. */
function kindsOfSteps(values: Values): string {
  const named: string[] = [];
  for (let n = 1; `id_${n}` in values; n += 1) {
    const of = (key: string) => values[`${key}_${n}`];
    const id = of("id") as keyof typeof stepKinds;
    const label = of("label");
    const known =
      label === undefined ? "" : `${label}${id === "other" ? "" : `（${stepKinds[id]}）`}`;
    const number = of("number") === undefined ? "" : ` ${of("number")}`;
    const [from, to] = [of("from"), of("to")];
    const range = from === undefined ? "" : `（${from === to ? from : `${from} 至 ${to}`}）`;
    named.push(
      `${known || stepKinds[id]}${number}，${of("count")} 步${range}，平均 ${ms(of("mean_ns"))}`,
    );
  }
  return named.join("；");
}

/** Before the id of a column: see `Definition` of the server. */
const sides: ServerMessages["sides"] = {
  baseline: (label, help) => [`基线 ${label}`, `基线：${help}`],
  experiment: (label, help) => [`实验 ${label}`, `实验：${help}`],
  delta: (label, help) => [`Δ ${label}`, `实验 − 基线：${help}`],
};

export const serverMessages: ServerMessages = {
  columns,
  sides,

  notes: {
    // Repaired while reading.
    bad_escapes: () => `${REPAIRED}单独的反斜杠已按反斜杠保留。`,
    half_surrogates: () => `${REPAIRED}不完整的 UTF-16 字符对已替换为 U+FFFD。`,
    bad_utf8: () => `${REPAIRED}无效的 UTF-8 字节已替换为 U+FFFD。`,
    control_characters: () => `${REPAIRED}文本中的控制字符已替换为空格。`,
    bare_words: () => `${REPAIRED}NaN、Infinity 等裸词按缺失值处理。`,
    trailing_commas: () => `${REPAIRED}末尾多余的逗号已去掉。`,
    odd_fields: () => "部分事件有类型不符的字段：事件保留，这些字段忽略。",
    wrong_checksum: () => "压缩文件的校验和不符：内容已被改动。已全部显示，其中的值可能有误。",
    holes: ({ bytes }) => `文件中有 ${bytes} 个零字节，常由崩溃造成；其中的事件缺失，数量未知。`,
    impossible_numbers: () => "内核与拷贝中任何设备都不可能有的数值已忽略。",
    huge_numbers: () => "traceEvents 之外超过 64 位或大于 10^308 的数值已忽略。",
    dropped_events: () => "无法读取的事件已被忽略。",
    damaged_header: () => "traceEvents 之前的内容无法读取。",
    damaged_tail: () => "traceEvents 之后的内容无法读取。",
    more_behind: () => "同一文件中该跟踪之后还有内容（可能是另一个跟踪），未显示。",
    unread_end: ({ why, why_kind, ...values }) =>
      `跟踪完整；文件中位于其后的内容无法读取（${reasons[String(why_kind)]?.(values) ?? why}）。`,
    truncated: ({ why, why_kind, events, ...values }) =>
      `文件无法读到末尾（${reasons[String(why_kind)]?.(values) ?? (why || "文件被截断")}）；此前的 ${events} 个事件已显示。`,
    missing_time: () => "没有开始时间的事件放在第一个事件附近。",
    missing_duration: () => "没有时长的事件按时长 0 计。",
    negative_duration: () => "时长为负的事件按时长 0 计。",

    // What the structure shows.
    no_launch: ({ calls_recorded }) =>
      calls_recorded
        ? "部分内核和拷贝的启动不在跟踪中，而其他的在：它们在采集开始之前启动，或者其启动记录已丢失。它们的时间计入总计，但不属于任何算子。"
        : "内核和拷贝没有对应的启动：没有采集对设备 API 的调用。它们的时间计入总计，但不属于任何算子。",
    no_correlation: () =>
      "部分内核和拷贝没有关联 ID 说明由哪个调用启动。它们的时间计入总计，但不属于任何算子。",
    linked_without_correlation: ({ flow, external_id }) =>
      `文件中没有可用来关联调用与设备工作的关联 ID。内核和拷贝${[
        flow ? `按流箭头关联（${flow}）` : "",
        external_id ? `按 External id 关联（${external_id}）` : "",
      ]
        .filter(Boolean)
        .join("，")}。`,
    shared_correlation: ({ matched, unowned }) =>
      `多个调用或内核共用一个关联 ID（ROCm 上的分析器会这样写，合并的跟踪中也有）：${matched} 个内核按顺序归于没有内核的调用；${unowned} 个内核和拷贝不属于任何算子。`,
    merged_processes: ({ processes, collide, unowned }) =>
      `文件中有 ${processes} 个调用设备 API 的进程：由多个跟踪合并而成。${
        collide
          ? `它们的关联 ID 相互冲突，因此设备工作按其在文件中的位置、名称和 ID 归于进程；${unowned} 个内核和拷贝不属于任何算子。`
          : ""
      }请将各 rank 作为单独的文件打开。`,
    clamped_ranges: () => "晚于其外层范围结束的主机范围，在调用树中被截到外层范围的末尾。",
    incomplete_last_steps: ({ step }) => `步 ${step} 被略去：采集在其设备工作完成之前停止。`,
    chosen_steps_not_found: ({ pattern, rule }) =>
      pattern === undefined
        ? `没有符合规则 ${rule} 的步；已改用通常的规则。`
        : `没有标注匹配 ${pattern}；已改用通常的规则。`,

    // Memory snapshots.
    snapshot_dropped: () => "部分记录无法读取；其余已显示。",
    snapshot_segments: () => "没有地址或大小的段已略去。",
    snapshot_blocks: () => "没有大小的块已略去。",
    snapshot_adjacent: () => "部分块不紧接在前一块之后。",
    snapshot_sizes: () => "部分段的大小与其中各块之和不符。",
    empty_snapshots: ({ files }) => `空的内存快照不在此表中：${files}。`,
    snapshot_states: () => "状态未知的块按空闲计。",

    // Missing or impossible device work.
    kernels_lost_at_start: ({ zero_timestamps }) =>
      `采集开始时的几次启动没有对应的内核：它们被性能分析器丢失，因此设备时间偏短。${zero_timestamps ? ZERO_TIMESTAMPS : ""}`,
    kernels_lost: ({ graphs }) =>
      graphs
        ? "部分启动的内核不在跟踪中：它们被捕获到图中，或者被性能分析器丢失。"
        : "部分启动的内核不在跟踪中：它们被性能分析器丢失，因此设备时间偏短。",
    kernels_after_end: () => "最后几次启动没有对应的内核：采集在它们运行之前已结束。",
    kernels_may_be_lost: () => `${ZERO_TIMESTAMPS}此跟踪没有记录启动，因此无法判断是否有内核丢失。`,
    before_launch: () =>
      "部分内核和拷贝早于其启动开始：主机与设备的时钟不一致，因此延迟和空闲时间有误。",
    impossible_durations: ({ name, start_ns, recorded_ns, successors, cut_ns, more }) =>
      `文件中 ${name}（跟踪开始后 ${(Number(start_ns) / 1e6).toFixed(3)} ms）的时长为 ${ms(recorded_ns)}，而其流在此期间又开始了 ${successors} 个内核与拷贝：其时长截到 ${ms(cut_ns)}，即下一个开始之处。${more ? `另有 ${more} 个同样截短。` : ""}`,

    // Times.
    far_timestamps: () =>
      "部分事件与其他事件相距一天以上（例如时间戳为零）：跟踪的长度以及由此计算的数值有误。",
    begin_and_end: () =>
      "部分事件写成开始和结束两条记录，其中一条缺失，或无法得知哪两条属于同一事件（ph 为 b 和 e）：它们的时长未知，不计入任何时间。",
    huge_durations: () => "部分事件长于一天：它们的结束没有正确记录，并会遮住其他所有事件。",
    empty_kernels: () => "部分内核的开始与结束时刻相同：其时间没有被记录，因此设备时间偏短。",
    rounded_kernels: () => "文件中的时间以整微秒计，因此短于 1 微秒的内核时长为 0。",
    slow_first_step: ({ ratio }) =>
      `第一步的时长是其他步中位数的 ${Number(ratio) < 100 ? Number(ratio).toFixed(1) : Math.round(Number(ratio)).toLocaleString("en")} 倍：它仍在预热，因此所有步的平均值偏高。`,

    unlike_steps: ({ kinds, more, ranges, ...each }) =>
      [
        `各步分为 ${kinds} 个种类，运行不同的程序，对所有步取的平均值混合了它们：`,
        kindsOfSteps(each),
        more ? `；另有 ${more} 种。` : "。",
        ranges ? "各步相连的种类可用其步范围单独查看。" : "",
      ].join(""),

    // The profiler itself.
    profiler_overhead: ({ share }) =>
      `采集期间有 ${percent(share, 0)} 的时间是性能分析器自身在工作：没有它程序会更快。`,
    frames_cost_time: () =>
      "记录了 Python 调用，这使每次调用变慢：主机时间偏长，设备时间不受影响。",
    profiler_errors: ({ lines, more }) =>
      `性能分析器在采集时记录了错误：${lines}${more ? `，另有 ${more} 条` : ""}`,
    profiler_warnings: ({ lines, more }) =>
      `性能分析器在采集时记录了警告：${lines}${more ? `，另有 ${more} 条` : ""}`,
    out_of_range: () =>
      "性能分析器丢弃了时间在采集范围之外的记录，其中总有预热步的记录；若有内核缺失，原因就在这里。",

    // Not recorded.
    foreign_trace: ({ program }) =>
      `这不是 torch.profiler 的跟踪。${program ? `看起来来自 ${program}。` : ""}跟踪视图会显示它；不据此计算任何内容。`,
    no_events: ({ entries }) =>
      `没有采集到事件：文件中的 ${entries} 个条目都没有时长或数值，只是进程和线程的名称，或标记采集的时刻。`,
    no_operators: () => "跟踪中没有算子：没有采集主机，因此设备工作不属于任何算子。",
    no_kernels: ({ evidence, called }) =>
      `${NO_DEVICE[String(evidence)] ?? "跟踪中没有内核：性能分析器没有采集 GPU，或者程序没有使用 GPU。"}${called ? ASKED_FOR : ""}`,
    no_shapes: () => "没有记录算子输入的形状：无法按形状区分算子。",
    no_stacks: () => "没有记录调用栈：不知道算子由哪一行代码调用。",
    no_memory: () => "没有记录内存分配。",
    recorded_by_server: ({ server }) =>
      `${server} 自行启动性能分析器。此处缺少的内容要用该服务器自己的选项来采集，而不是程序中 profile(...) 的参数。`,
    no_modules: () => "此跟踪没有记录模块。",
    no_steps: () => "没有标记步：整个跟踪作为一步显示。",
    no_device_properties: () => "文件没有描述设备：设备的名称、内存和计算能力未知。",
    no_distributed_info: () =>
      "跟踪中有通信，但没有写明自己是哪个 rank、有哪些进程组（PyTorch 2.5 起才会写入）。rank 取自文件名。",
    no_memory_totals: () =>
      "跟踪没有记录内存的使用量：PyTorch 1.10 之前只记录大小。算子的表格是完整的。",
    no_memory_addresses: () =>
      "跟踪没有记录地址：PyTorch 1.10 之前只记录大小，因此分配无法与其释放对应。算子的表格是完整的。",

    // Across ranks.
    no_communication: ({ workers, more }) =>
      `在 ${workers}${more ? ` 等（另有 ${more} 个）` : ""} 的跟踪中没有找到通信：程序在采集期间没有通信，或者使用了内核未知的通信库。`,
    one_rank: () =>
      "只有一个 rank 的跟踪，无法区分等待与传输：操作的时间中有多少是等待是未知的。要看出谁在等待，请把所有 rank 采集到同一目录。",
    missing_ranks: ({ groups }) =>
      `缺少部分 rank 的跟踪（${groups}）。传输时间取现有各 rank 中的最短时间，因此可能偏长，而等待时间偏短。`,
    unknown_groups: () =>
      "跟踪没有写明每次操作所属的进程组（PyTorch 2.3 起才会记录）：全部视为由所有 rank 组成的一个组。",
    point_to_point: () =>
      "发送和接收发生在两个 rank 之间，而跟踪没有写明是哪两个。它们没有被配对：其时间中有多少是等待是未知的。",
    unknown_sizes: () => "部分操作的大小不在跟踪中，因此不计入合计和带宽。",
    no_kernel: () => "部分操作在采集期间被调用，但其内核不在跟踪中。它们只计次数，没有时间。",
    unequal_counts: ({ operations }) => `各 rank 记录的操作次数不同（${operations}）。`,
    unmatched_operations: ({ unmatched, all, operations }) =>
      `${all} 次操作中有 ${unmatched} 次无法与其他 rank 的操作配对（${operations}）。它们是否在等待是未知的：其时间既不计为等待，也不计为传输。`,
    traces_loading: ({ files }) => `此 span 的部分跟踪仍在读取，未计入这些数字：${files}。`,
    traces_failed: ({ files }) => `此 span 的部分跟踪无法读取，未计入这些数字：${files}。`,
    ranks_loading: () => "部分跟踪仍在读取：暂不点名任何 rank。",
    ranks_failed: ({ names, more }) => `部分跟踪无法读取：${listed(names, more)}。`,
    damaged_ranks: ({ names, more, kinds }) =>
      `文件不完整或已损坏，缺少其中的事件：${listed(names, more)}（${kinds}）。`,
    duplicate_ranks: ({ names, more }) =>
      `有两个跟踪自称是同一个 rank；以按名称排在前面的为准。未计入：${listed(names, more)}。`,
    foreign_ranks: ({ names, more, world }) =>
      `另一个作业的跟踪（其 rank 数不是 ${world}）未计入：${listed(names, more)}。`,
    different_windows: ({ names, more, minutes }) =>
      names && minutes === undefined
        ? `采集时间与大多数不同，不与其他 rank 比较：${listed(names, more)}。`
        : names
          ? `比其他跟踪早或晚 ${minutes} 分钟以上采集的跟踪属于另一次采集，未计入：${listed(names, more)}。`
          : "各跟踪在不同的时间采集，没有共同的步：等待和迟到是未知的。",
    absent_ranks: ({ names, more, present, world }) =>
      `${world} 个 rank 中有 ${present} 个；缺少：${listed(names, more)}。传输时间可能偏长，等待时间可能偏短。`,
    versions_differ: ({ names, more, of }) => `各 rank 的 ${of} 不同：${listed(names, more)}。`,
    unequal_steps: ({ names, more, fewest, most, common }) =>
      `各 rank 记录了 ${fewest === most ? fewest : `${fewest} 到 ${most}`} 步，其中 ${common} 步所有 rank 都有；每一步只在有这一步的 rank 之间比较。${
        names ? `与多数 rank 没有共同的步：${listed(names, more)}。` : ""
      }`,
    matched_by_order: ({ groups }) =>
      `${groups} 个进程组的集合通信按次序配对：缺少序号，或序号互相矛盾。`,
  },

  platforms,
  words,

  // Remedies that are not code alone.
  remedies: {
    kernels_lost_at_start: ({ zero_timestamps }) => (zero_timestamps ? NEWER_CUDA : null),
    kernels_may_be_lost: () => NEWER_CUDA,
    kernels_after_end: () => "torch.cuda.synchronize()  # 在性能分析器停止之前",
    rounded_kernels: () => "PyTorch 2.4 或更新版本以纳秒记录",
    profiler_overhead: () => "profile(with_stack=False, profile_memory=False)  # 或者采集更少的步",
    frames_cost_time: () => "profile(with_stack=False)  # 不需要调用栈时",
    no_modules: () => "profile(with_modules=True) 或 profile(with_stack=True)",
    no_steps: () => "prof.step()  # 在每次迭代结束时",
    no_events: () => "prof.step()  # 在每次迭代结束时",
    no_distributed_info: () => "torch.distributed.init_process_group()  # 在性能分析器启动之前",
  },

  counters: {
    busy: "设备忙碌",
    computing: "计算中",
    sm_efficiency: "估算 SM 效率",
    kernels_running: "正在运行的内核",
    queue_length: "已启动未开始",
    memcpy_bandwidth: "拷贝带宽",
    exposed_communication: "暴露的通信",
    memory_allocated: "已分配内存",
    memory_reserved: "已预留内存",
    recorded: "文件中的计数器",
  },
};
