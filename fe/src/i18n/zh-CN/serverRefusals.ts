/** Why something is not answered, by the id of the refusal. */

/** What a trace is too poor for. */
export const ofTraces = {
  no_step: "跟踪中没有任何带时长的内容。",
  no_host: "跟踪中没有主机的事件：不知道工作由什么启动、何时启动。",
  foreign: "这不是 torch.profiler 的跟踪。",
  no_device: "程序使用的设备没有被采集：不知道更改会节省多少时间。",
  clocks: (share: string) => `${share} 的工作早于其启动调用开始：时钟不一致。`,
  no_launches: (share: string) => `${share} 的设备工作没有记录启动调用：不回答对主机时间的更改。`,
  lost_work: (share: string) =>
    `${share} 的启动没有记录到工作，已被性能分析器丢失：不回答对设备工作的更改。`,
  unexplained: (share: string) =>
    `关键路径的 ${share} 在跟踪中没有原因：只显示路径，不给出可节省的时间。`,
};

/** What rules do not promise. */
export const refusals: Readonly<Record<string, (share: string) => string>> = {
  ...ofTraces,
  no_step: () => ofTraces.no_step,
  no_host: () => ofTraces.no_host,
  foreign: () => ofTraces.foreign,
  no_device: () => ofTraces.no_device,
  one_rank: () => "只有与其他 rank 一起比较，才能看出一个 rank 是否更慢。",
  one_rank_communication: () =>
    "只看一个 rank，无法知道其通信中有多少是在等待其他 rank。请一起重放此次运行的所有 rank。",
  idle_unknown: (share) => `设备有 ${share} 的时间空闲，而跟踪没有说明原因。`,
  unmatched: () => "大部分通信无法与另一个 rank 的通信配对，因此其时间可能是等待。",
  lateness_unknown: () => "使此 rank 迟到的既不是主机时间，也不是其跟踪中的内核。",
  microbatches_unnamed: () =>
    "跟踪没有给出微批次的名称，因此无法知道等待中有多少用于填充和排空流水线。",
  late_in_turns: () =>
    "没有一个 rank 在大多数步中迟到，因此更改一个 rank 不会消除这种等待。各 rank 同时到达时能节省多少，取决于其中哪一个变快。",
};
