import type { shell as en } from "../en/shell";

export const shell: typeof en = {
  product: "PyTorch Profiler",
  skip: "跳到视图",
  bar: {
    label: "当前显示的内容",
    run: "运行",
    worker: "Worker",
    span: "Span",
    rank: (rank, of) => (of === null ? `rank ${rank}` : `rank ${rank}，共 ${of}`),
    none: "无",
    refresh: "刷新",
    refreshHint: "查找新的跟踪并重新加载数据",
    copyLink: "复制链接",
    linkCopied: "链接已复制",
    copyFailed: "此处不允许复制，请从这个框中取得地址",
    keys: "键盘快捷键",
    theme: (choice) => `主题：${choice}。单击切换`,
    themes: { auto: "自动", light: "浅色", dark: "深色" },
  },

  rail: {
    label: "视图",
    width: "菜单宽度",
    jump: (letter) => `按键：g ${letter}`,
    notRecorded: (n) => `未采集（${n}）`,
    noData: (view) => `${view}：没有采集该视图的数据；视图中说明了如何采集`,
    groups: {
      summary: "摘要",
      time: "时间",
      efficiency: "效率",
      memory: "内存",
      ranks: "Rank",
      program: "程序",
      compare: "对比",
      capture: "采集",
    },
    collapse: "折叠菜单",
    expand: "展开菜单",
  },

  range: {
    label: "迭代步",
    first: "第一步",
    last: "最后一步",
    hint: "拖动选择若干步，单击选择一步；方向键移动两端。所有视图只显示所选的步。",
    step: (name, time) => `步 ${name}，${time}`,
    all: (n) => `全部 ${n} 步`,
    between: (first, last) => (first === last ? first : `${first}–${last}`),
    chip: (first, last, of) =>
      first === last ? `步 ${first}（共 ${of} 步）` : `步 ${first}–${last}（共 ${of} 步）`,
    notHere: (range) => `关于整个文件，不限于步 ${range}`,
    clear: "显示所有步",
  },

  palette: {
    title: "跳转或执行任意操作",
    hint: "视图、运行、算子、内核、模块、步或操作",
  },

  report: {
    download: "报告",
    downloadHint: "将此跟踪及所有视图保存为一个文件，无需服务器即可打开",
    made: (date) => `报告生成于 ${date}`,
    missing: {
      title: "此报告中没有",
      reason:
        "报告包含各视图最初显示的内容，针对整个跟踪。时间线、步或时间范围，以及较小算子的详情在性能分析数据本身中：",
      remedy: "torch-tb-profiler serve LOGDIR",
    },
  },

  status: {
    events: (n) => `${n} 个事件`,
    records: (n) => `${n} 条记录`,
    notes: (n) => (n === 0 ? "没有提示" : `${n} 条提示`),
    files: "文件",
    loading: (traces, percent, done, total) =>
      `正在加载 ${traces} 个跟踪：${percent}（${done}，共 ${total}）`,
    scanning: "正在查找跟踪…",
    unlisted: "无法列出日志目录",
    unlistedDirectories: (n) => `${n} 个目录无法列出`,
    failed: (n) => `${n} 个文件无法读取`,
    skipped: (n) => `跳过了 ${n} 个文件`,
    offline: "无法连接服务器。当前显示的是最后一次得到的数据；服务器恢复后，页面会自动继续。",
    retry: "重试",
    version: (v) => `torch-tb-profiler ${v}`,
  },

  request: {
    notJson: "返回的内容不是 JSON。此地址上是否运行着另一个服务器？",
    noAnswer: "服务器没有响应。",
    status: (status) => `服务器返回了状态码 ${status}。`,
  },

  traceState: {
    queued: "等待中",
    loading: "加载中",
    ready: "就绪",
    failed: "失败",
    skipped: "已跳过",
    unlisted: "无法列出",
  },

  panel: {
    help: (title) => `关于“${title}”`,
    close: "关闭",
    fullScreen: (title) => `全屏：${title}`,
    window: "退出全屏",
    loading: "正在加载…",
    refreshing: "正在刷新",
    waiting: "仍在读取跟踪",
    waitingProgress: (percent) => `仍在读取跟踪：${percent}`,
    error: "加载失败",
    request: "请求",
    retry: "重试",
    empty: "没有可显示的内容",
    record: "用下面的代码可以采集：",
    notes: (n) => `关于这些数据有 ${n} 条提示`,
    crashed: "此视图因错误而停止",
    again: "重试",
    report: "供错误报告使用",
    codeMissing: "页面的这一部分未能加载",
    codeMissingHelp: "服务器恢复响应后，页面会自动重新加载，并保持原样。",
    reload: "重新加载页面",
  },

  severity: { info: "提示", warning: "警告", error: "错误" },

  files: {
    title: "日志目录中的文件",
    run: "运行",
    file: "文件",
    size: "大小",
    state: "状态",
    reason: "说明",
    none: "没有跟踪文件。",
    progress: (percent, done, total) => `${percent} – ${done}，共 ${total}`,
  },

  loading: {
    connecting: "正在连接…",
    title: (file) => `正在加载 ${file}`,
    queued: "正在排队等待。",
    bytes: (percent, done, total) => `${percent} – 已读取 ${done}，共 ${total}`,
    ready: "现在可以查看",
    others: "其他文件",
    more: (n) => `另有 ${n} 个：见下方“文件”`,
    failedTitle: (file) => `无法读取 ${file}`,
    noEventsTitle: "没有采集到事件",
    foreignTitle: "这不是 torch.profiler 的跟踪",
    failedHelp: "文件改变后，或障碍消除后，会自动重新读取。其他运行不受影响。",
    unreachable: "无法连接服务器",
    unreachableHelp: "页面无法取得跟踪列表。服务器仍在运行吗？",
  },

  dropped: {
    run: (value) => `运行“${value}”不存在（或已不存在），改为显示另一个。`,
    worker: (value) => `此运行中没有 worker“${value}”，改为显示另一个。`,
    span: (value) => `此 worker 没有 span“${value}”，改为显示另一个。`,
    rule: (value) => `没有名为“${value}”的识别规则，改用通常的规则。`,
    baseline: (value) => `没有（或已没有）可供对比的跟踪“${value}”；“对比”视图中另有建议。`,
    pattern: (value) => `“${value}”不是有效的正则表达式，按通常的规则识别步。`,
    steps: (value) => `此跟踪中没有（或已没有）步“${value.replace("~", "–")}”，显示所有步。`,
    view: (value) => `没有视图“${value}”，改为显示概览。`,
    schema: "此链接由较新的版本生成，其中部分内容可能被忽略。",
    dismiss: "关闭提示",
  },

  copy: { copy: "复制", copied: "已复制", refused: "此处不允许复制" },

  comparison: {
    span: (span) => `span ${span}`,
    start: "对比…",
    startHint: "选择要与之对比的跟踪",
    label: "对比",
    comparedWith: (trace) => `与 ${trace} 对比`,
    versus: (trace) => `对比 ${trace}`,
    itself: (trace) => `与 ${trace} 对比：就是当前显示的跟踪`,
    open: "在“对比”中查看",
    end: "结束对比",
  },
};
