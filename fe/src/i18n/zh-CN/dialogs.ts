import type { dialogs as en } from "../en/dialogs";

export const dialogs: typeof en = {
  combo: {
    filter: (label) => `筛选${label}`,
    noMatch: "没有匹配项",
  },

  stepRules: {
    profiler_step: "ProfilerStep 标记",
    inference_engine: "推理引擎的标记",
    training_framework: "训练框架的标记",
    repeated_annotation: "重复出现的标注",
    optimizer: "优化器的更新",
    repeated_module: "模型的调用",
    repeated_kernels: "重复出现的内核序列",
    whole_trace: "整个跟踪作为一步",
    pattern: "您指定的模式",
  },
  noStepMarks: {
    whole_trace: "没有步标记，整个跟踪算作一步",
    none: "没有步",
  },

  palette: {
    results: "搜索结果",
    kinds: {
      view: "视图",
      action: "操作",
      run: "运行",
      worker: "Worker",
      span: "Span",
      step: "步",
      op: "算子",
      kernel: "内核",
      mod: "模块",
    },
    nothing: "没有找到。",
    all: (n) => `${n} 项`,
    some: (shown, total) => `最佳的 ${shown} 项，共 ${total} 项`,
    loading: "名称仍在加载",
    copyLink: "复制本页链接",
    openFile: "打开跟踪或内存快照…",
    refresh: "刷新：查找新的跟踪并重新加载数据",
    theme: (name) => `主题：${name}`,
    language: (name) => `语言：${name}`,
    notes: "关于此跟踪的提示",
    report: "将此跟踪的报告保存为一个文件",
  },

  inspector: {
    label: "选中项",
    close: "清除选择",
    width: "抽屉宽度",
    kinds: { op: "算子", kernel: "内核", mod: "模块", step: "步" },
    places: "查看位置",
    showIn: (view) => `在${view}中查看`,
    onlyStep: "所有视图只显示这一步",
    copyName: "复制名称",
  },

  notes: {
    title: "跟踪健康状况",
    none: "此跟踪没有发现异常。",
    capture: "采集环境",
  },

  keys: {
    everywhere: "在所有视图中",
    title: "键盘",
    view: (name) => `转到${name}`,
    or: "或",
    palette: "搜索视图、运行、算子、内核和操作",
    more: "表格、图表、迭代步以及菜单和抽屉的边缘在获得焦点后可用方向键操作。",
    filter: "筛选表格",
    escape: "清除选择",
    help: "显示此列表",
  },
  noRuns: {
    title: "没有找到跟踪",
    scanning: "正在查找跟踪…",
    scanned: "已在此目录中查找包含跟踪的 .json、.json.gz 和 .json.zst 文件：",
    drop: "把本机的跟踪或内存快照拖放到这里，或在命令面板中选择“打开跟踪或内存快照”。",
    how: "可以这样采集一个，它会自动出现在这里：",
    howRemote: "可以这样采集一个，再把文件复制到日志目录，它们会自动出现在这里：",
  },
};
