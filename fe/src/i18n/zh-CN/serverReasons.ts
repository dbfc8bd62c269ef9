/** Why a file or a directory is not shown. */
import type { FirstMessages, Values } from "../values";

const TROUBLES: Record<string, string> = {
  credentials: "凭据未被接受",
  permission: "没有权限",
  missing: "不存在",
  throttled: "存储服务要求减少请求",
  unreachable: "存储服务没有响应",
  endpoint: "区域或端点不正确",
  clock: "本机的时钟不正确",
  changed: "读取时文件被替换；稍后会重新读取",
  package: "缺少软件包",
  failed: "存储服务返回错误",
};

/** What the system says, by the name of the error. */
const ERRNOS: Record<string, string> = {
  EACCES: "没有权限",
  ENOENT: "文件或目录不存在",
  EIO: "读写出错",
};

/** What to do about a store, by its name and the trouble. */
const ADVICE: Record<string, string> = {
  "any.throttled": "会放慢后重试",
  "any.unreachable": "请检查网络和地址；会自动重试",
  "any.clock": "请校准时钟（NTP）：请求的签名包含时间",
  "files.permission": "本进程的用户需要读取权限（HADOOP_USER_NAME 可指定其他用户）",
  "files.missing": "请检查路径",
  "files.credentials": "请用 kinit 获取票据",
  "files.endpoint": "请检查地址",
  "s3.credentials":
    "请设置 AWS_ACCESS_KEY_ID 和 AWS_SECRET_ACCESS_KEY（以及 AWS_SESSION_TOKEN），或者 AWS_PROFILE",
  "s3.permission": "需要存储桶的 s3:ListBucket 权限和对象的 s3:GetObject 权限",
  "s3.missing": "请检查存储桶和 S3_ENDPOINT",
  "s3.unreachable": "请检查网络、S3_ENDPOINT 和 S3_USE_HTTPS；会自动重试",
  "s3.endpoint": "请将 AWS_REGION 设为存储桶的区域；服务器不是 AWS 时还要设置 S3_ENDPOINT",
  "blob.credentials":
    "请将 AZURE_STORAGE_CONNECTION_STRING 设为此账户的连接字符串，或在地址后附上 SAS，或安装 azure-identity 并登录",
  "blob.permission": "需要 Storage Blob Data Reader 角色，或具有读取和列出权限（sp=rl）的 SAS",
  "blob.missing": "请检查账户和容器；没有凭据时，私有容器看起来也是这样",
  "blob.endpoint": "请检查账户名和 AZURE_STORAGE_CONNECTION_STRING 中的 BlobEndpoint",
  "gs.credentials":
    "请将 GOOGLE_APPLICATION_CREDENTIALS 设为密钥文件，或运行：gcloud auth application-default login",
  "gs.permission": "需要存储桶的 Storage Object Viewer 角色",
  "gs.missing": "请检查存储桶和 STORAGE_EMULATOR_HOST",
  "gs.endpoint": "请检查 STORAGE_EMULATOR_HOST",
};

/** What stood in the way: the words of the system, or what a store said and what to do about it. */
function cause({ why, errno, trouble, code, advice, advice_of }: Values): string {
  if (why !== undefined) return ERRNOS[String(errno)] ?? String(why);
  const said = TROUBLES[String(trouble)] ?? String(trouble);
  const toDo = advice ? `。${ADVICE[String(advice_of)] ?? advice}` : "";
  return `${said}${code ? `（${code}）` : ""}${toDo}`;
}

export const reasons: FirstMessages["reasons"] = {
  // Files that are no traces.
  empty: () => "文件为空",
  not_json: () => "不是 JSON 文件",
  utf16: () => "是 UTF-16 文本：JSON 使用 UTF-8",
  packed_twice: () => "被压缩了两次：请先解压一次",
  no_trace_events: ({ first }) =>
    first
      ? `不是 PyTorch 的跟踪：前 ${first} 中没有 traceEvents`
      : "不是 PyTorch 的跟踪：没有 traceEvents",
  no_events_in_list: ({ first }) =>
    first ? `是 JSON 但不是跟踪：前 ${first} 中没有事件` : "是 JSON 但不是跟踪：没有事件",
  numbers: () => "是数字列表，不是跟踪；内存时间线由 torch-tb-profiler memory 读取",
  chakra: () => "是 Chakra 执行跟踪（ExecutionTraceObserver）：它附属于跟踪，本身不是跟踪",
  memory_snapshot: () => "是内存快照（torch.cuda.memory），不是跟踪",
  no_snapshot: () => "不是内存快照",
  empty_snapshot: () =>
    "内存快照为空：写入时没有分配任何设备内存，也没有记录历史（torch.cuda.memory._record_memory_history）",
  empty_cut_off: () => "内存快照在第一条记录之前被截断或损坏",
  snapshot_limits: () => "读取超出了内存或时间的限制",
  rocprofv3: () => "是 rocprofv3 的输出，不是 torch.profiler 的跟踪",
  rocprof: () => "是 rocprof 的输出，不是 torch.profiler 的跟踪：可用 ui.perfetto.dev 打开",
  rocpd: () =>
    "是 rocprofv3 的数据库，不是 torch.profiler 的跟踪：rocpd convert 可将其转换为 ui.perfetto.dev 的文件",
  speedscope: () => "是仅含主机的分析文件（speedscope.app），不是 torch.profiler 的跟踪",
  packed_xz: () => "以 xz 压缩，无法读取：请用 xz -d 解压，或改用 gzip 压缩",
  packed_bzip2: () => "以 bzip2 压缩，无法读取：请用 bunzip2 解压，或改用 gzip 压缩",
  packed_lz4: () => "以 lz4 压缩，无法读取：请用 lz4 -d 解压，或改用 gzip 压缩",
  zip: () => "是 zip 归档：请用 unzip 解压",
  tar: () => "是 tar 归档：请用 tar -xf 解开",
  nsys_sqlite: () =>
    "是 Nsight Systems 的导出文件，不是 torch.profiler 的跟踪：nsys stats 可汇总其内容",
  nsys_report: () =>
    "是 Nsight Systems 的报告，不是 torch.profiler 的跟踪：nsys stats 可汇总其内容",
  sqlite: () => "是 SQLite 数据库，不是分析文件",
  ncu: () => "是 Nsight Compute 关于单个内核的报告：ncu --import 可显示其内容",
  xplane: () =>
    "是 JAX 或 XLA 的分析文件（XPlane）：安装 xprof（pip install xprof）后可在 TensorBoard 中查看",
  chakra_protobuf: () =>
    "是 protobuf 格式的 Chakra 执行跟踪，供模拟器使用，不是 torch.profiler 的跟踪",
  perfetto: () =>
    "是 Perfetto 自有格式的跟踪，无法读取：可用 ui.perfetto.dev 打开；torch.profiler 也可写出 .json",
  flight_recorder: () =>
    "是 torch.distributed 飞行记录器的转储：torchfrtrace 可分析所有 rank 的转储",
  nccl_inspector: () =>
    "是 NCCL Inspector 的日志：含单个 rank 的集合通信，不是 torch.profiler 的跟踪",
  torch_trace_log: () => "是 torch.compile 的日志（TORCH_TRACE）：tlparse 可显示其内容",
  metrics: () => "是 Prometheus 格式的指标列表，不是 torch.profiler 的跟踪",
  nvidia_smi: () => "是 nvidia-smi 的表格，不是 torch.profiler 的跟踪",
  collapsed_stacks: () => "是主机调用栈及其次数的列表：可用 speedscope.app 查看",
  other_packing: () => "压缩方式不受支持：可以读取 .json、.json.gz 和 .json.zst",
  other_ending: () => "文件名的结尾不是跟踪的：应为 .json、.json.gz 或 .json.zst",
  same_recording: ({ shown }) => `与已显示的 ${shown} 是同一次记录`,
  more_files: ({ count }) => `另有 ${count} 个文件`,

  // Questions without an answer.
  no_such_run: ({ run }) => `没有名为 ${run} 的运行`,
  no_such_worker: ({ run, worker }) => `运行 ${run} 中没有名为 ${worker} 的 worker`,
  no_such_span: ({ span }) => `没有名为 ${span} 的 span`,
  no_such_step: ({ step }) => `没有名为 ${step} 的步`,
  no_such_part: ({ part }) => `对比中没有 ${part} 这一部分`,
  no_such_stack: ({ root }) => `此处没有调用栈 ${root}`,
  no_such_counter: ({ counter }) => `没有名为 ${counter} 的计数器`,
  metric_not_recorded: ({ metric }) => `此运行的跟踪中没有记录 ${metric}`,
  no_such_slice: ({ row }) => `第 ${row} 行不是切片`,
  no_pair: () => "两者中第一个必须是跟踪，第二个必须是内存快照",
  no_oom_text: () => "这不是 OutOfMemoryError 的文本",
  no_memory_timeline: () => "不是 export_memory_timeline 的文件",
  too_large: () => "文件过大",
  no_memory_of: ({ device }) => `没有记录 ${device} 的内存`,
  not_shared: ({ row }) => `第 ${row} 行不是与其他 rank 共同的通信`,
  communication_not_found: ({ run, span }) => `在 ${run}（span ${span}）中没有找到通信`,
  trace_failed: ({ file, why_kind, said, ...rest }) =>
    `${file}：${reasons[String(why_kind)]?.(rest) ?? said}`,

  // Damaged ones.
  no_events: () => "没有事件：没有采集到任何内容，traceEvents 为空",
  no_readable_events: ({ count }) => `没有事件：其中的 ${count} 个事件都无法读取`,
  cut_off: () => "在第一个事件之前被截断",
  long_event: ({ bytes }) => `有一个事件超过 ${bytes} 字节`,
  expansion: ({ times }) => `解压后超过原大小的 ${times} 倍，没有跟踪会这样`,
  gzip_cut_off: () => "gzip 数据被截断",
  zstandard_cut_off: () => "Zstandard 数据被截断",
  damaged_packing: ({ packing, error }) => `${packing} 数据已损坏：${error}`,

  // What stands in the way of reading.
  unlistable: ({ place, ...values }) =>
    place ? `无法列出 ${place}：${cause(values)}` : `无法列出：${cause(values)}`,
  unreadable: ({ place, ...values }) =>
    place ? `无法从 ${place} 读取：${cause(values)}` : `无法读取：${cause(values)}`,
  no_file: () => "不是文件",
  silent: ({ place, seconds }) => `无法列出 ${place}：文件系统已有 ${seconds} 秒没有响应`,
  changed: () => "读取之后文件已改变；稍后会重新读取",
  still_written: () => "仍在写入；写完后会重新读取",
  no_memory: () => "所需内存超过现有内存",
  columns_unusable: ({ error }) => `可以读取，但其列数据无法使用：${error}`,
  not_written: ({ error }) => `无法读取，或无法写入其列数据：${error}`,
  unforeseen: ({ error }) => `无法读取：${error}`,
  no_process: ({ error }) => `无法读取：无法为它启动进程（${error}）`,
  killed: () => "无法读取：读取它的进程被终止，可能是内存不足",
  crashed: ({ signal }) => `无法读取：读取它的进程崩溃（${signal}）`,
  hung: ({ seconds }) => `无法读取：读取它的进程在 ${seconds} 秒内没有任何进展，已被结束`,
  withdrawn: () => "读取时已被撤回",
  ended: ({ status }) => `无法读取：读取它的进程提前结束（状态 ${status}）`,
};
