import { afterEach, describe, expect, it, vi } from "vitest";
import { en as page } from "./en";
import { pickLanguage } from "./languages";
import { zhCN as zhCNPage } from "./zh-CN";
import { overview as zhOverview } from "./zh-CN/overview";
import { table as zhTable } from "./zh-CN/table";
import { views } from "./zh-CN/views";

const zhCNAreas = views.areas;

/** Areas by their names, as English has them. */
const AREAS: Record<string, object> = Object.assign(
  {},
  ...Object.values(import.meta.glob<object>("./en/*.ts", { eager: true })),
);
const { en: _, shell: __, categoryName: ___, stepKindName: ____, ...areas } = AREAS;
const en = { ...page, ...areas };
const zhCN = { ...zhCNPage, ...zhCNAreas };

describe("the language", () => {
  it("is the first wanted one that there is", () => {
    expect(pickLanguage(["zh-CN", "en"])).toBe("zh-CN");
    expect(pickLanguage(["zh"])).toBe("zh-CN");
    expect(pickLanguage(["de-DE", "en-US", "zh-CN"])).toBe("en");
    expect(pickLanguage(["fr", "zh-TW"])).toBe("zh-CN");
    expect(pickLanguage(["fr", "zhx"])).toBe("en");
    expect(pickLanguage([])).toBe("en");
  });
});

describe("settling it", () => {
  afterEach(() => {
    localStorage.clear();
    vi.resetModules();
  });

  it("takes what was chosen here before what the browser says", async () => {
    localStorage.setItem("torch-tb-profiler.language", "zh-CN");
    const i18n = await import(".");
    expect(i18n.t.lang).toBe("en");
    await (await import("./current")).settleLanguage();
    // Read anew: `t` is a binding, not a copy.
    expect(i18n.t.lang).toBe("zh-CN");
  });

  it("settles the texts that views bring along", async () => {
    localStorage.setItem("torch-tb-profiler.language", "zh-CN");
    const { settleAreas, settleLanguage } = await import("./current");
    await settleLanguage();
    await settleAreas();
    const { steps } = await import("./en/steps");
    expect(steps).toBe((await import("./zh-CN/steps")).steps);
  });
});

/** Every text by its path; of functions their source. */
function texts(messages: object, path = ""): [string, string][] {
  return Object.entries(messages).flatMap(([key, value]): [string, string][] => {
    const at = path ? `${path}.${key}` : key;
    if (typeof value === "string") return [[at, value]];
    if (typeof value === "function") return [[at, String(value)]];
    return texts(value as object, at);
  });
}

/** What every function says by its path, called with marks in place of names and numbers. */
function said(messages: object, path = ""): [string, string][] {
  return Object.entries(messages).flatMap(([key, value]): [string, string][] => {
    const at = path ? `${path}.${key}` : key;
    if (typeof value === "string" || NOT_TEXTS.has(at) || OF_SERVER.test(at)) return [];
    if (typeof value !== "function") return said(value as object, at);
    return [[at, String(value(...MARKS.slice(0, value.length)))]];
  });
}

const MARKS = ["<1>", "<2>", "<3>", "<4>", "<5>", "<6>"];
/** Given lists, not texts. */
const NOT_TEXTS = new Set(["capture.health.summary"]);
/** What Chinese says in words of the server: `torch_tb_profiler/words`. */
const OF_SERVER = /^(serverMessages|criticalpath\.refusals\.(?!waits))/;

/** Names and code that are the same in every language. */
const SAME =
  /^(product|bar\.(worker|span)|rail\.groups\.ranks|status\.version|dialogs\.palette\.kinds\.(worker|span)|table\.(unknown|filterHelp.*|problem\.bad_regex)|.*[rR]emedy|overview\.(picture\.(device|pin)|kinds\.(numbered|labelled)|tiles\.(p50|p95|device)|categories\.(memcpy|memset|dataloader))|capture\.(categories\.names\.(memcpy|memset)|options\.(names|code)\..*|versions\.names\..*|distributed\.(rank|worldSize))|kernels\.columns\.bandwidth|range\.between|charts\.(part|curve\.anySpan)|kernels\.(tensor|kinds\.softmax)|overview\.tiles\.tensor|comparison\.span|compare\.(headline\.(contributor|delta|deltaPercent)|timeline\.repeated|columns\.(delta|deltaPercent))|distributed\.(rank|worker|byRank|devices\.(gpu|columns\.(worker|rank)))|ranks\.(rank|tiles\.of|heat\.(orders\.rank|span)|stragglers\.(rank|z|stepsOf|ranksOf|doubt\.)|scatter\.(series|alpha|beta)|layout\.dimension|table\.columns\.(worker|rank|z)\.0|(moe|fsdp)\.columns\.group\.1)|hang\.(rankNames|namedColumns\.0|rankColumns\.0|groupColumns\.2)|flame\.kinds\.frame|memory\.between|modules\.(sources\.(nn|lightning)|spoken)|parts\.ofKind|stacks\.(spoken|thread\.of)|steps\.(tiles\.p95|because|longer|columns\.(deltaPercent|percent))|program\.engines\.(vllm|sglang|atom|tensorrt_llm|xdit)|roofline\.(yAxis|roofs\.element)|utilization\.(mfu|hfu|atLeast)|trace\.(perfettoUrl|categoryOption))$/;

describe("Chinese", () => {
  it("has the areas that English has", () => {
    expect(Object.keys(areas).length).toBeGreaterThan(10);
    expect(Object.keys(zhCNAreas).sort()).toEqual(Object.keys(areas).sort());
  });

  const theirs = new Map(texts(zhCN));

  it("says everything in Chinese that is said in words", () => {
    const same = texts(en)
      .filter(([path]) => !SAME.test(path) && !OF_SERVER.test(path))
      .filter(
        ([path, text]) => path !== "lang" && !/[\u4e00-\u9fff]/.test(theirs.get(path) ?? text),
      )
      .map(([path]) => path);
    expect(same).toEqual([]);
  });

  it("says all that a text is given", () => {
    const marks = (text: string) => MARKS.filter((mark) => text.includes(mark));
    const marked = (messages: object) =>
      Object.fromEntries(said(messages).map(([path, text]) => [path, marks(text)]));
    const ours = marked(en);
    expect(Object.keys(ours).length).toBeGreaterThan(150);
    expect(marked(zhCN)).toEqual(ours);
  });

  it("keeps the numbers and names that a text is given", () => {
    expect(zhCN.range.chip("5", "10", "24")).toMatch(/5–10.*24/);
    expect(zhCN.status.loading(2, "40 %", "4 MiB", "10 MiB")).toMatch(/2.*40 %.*4 MiB.*10 MiB/);
    expect(zhCN.dropped.steps("5~7")).toContain("5–7");
    expect(zhTable.rows("3", "10")).toMatch(/3.*10/);
  });
});

describe("why a file is not shown", () => {
  afterEach(() => {
    localStorage.clear();
    vi.resetModules();
  });

  it("is said in Chinese by its kind, and what is not known in the words of the server", async () => {
    localStorage.setItem("torch-tb-profiler.language", "zh-CN");
    const { reasonText, noteText, settleAreas } = await import(".");
    await (await import("./current")).settleLanguage();
    expect(reasonText("is empty", { kind: "empty", values: {} })).toBe("文件为空");
    const denied = { place: "", why: "Permission denied", errno: "EACCES" };
    expect(reasonText("cannot be read: …", { kind: "unreadable", values: denied })).toBe(
      "无法读取：没有权限",
    );
    const listing = { place: "s3://b", trouble: "missing", code: "NoSuchBucket", advice: "Look" };
    expect(reasonText("…", { kind: "unlistable", values: listing })).toBe(
      "无法列出 s3://b：不存在（NoSuchBucket）。Look",
    );
    expect(reasonText("is odd", { kind: "other", values: {} })).toBe("is odd");
    expect(reasonText("is odd", null)).toBe("is odd");
    const file = { file: "a.json", why_kind: "empty", said: "is empty" };
    expect(reasonText("a.json is empty", { kind: "trace_failed", values: file })).toBe(
      "a.json：文件为空",
    );
    await settleAreas();
    const cut = { why: "the gzip data is cut off", why_kind: "gzip_cut_off", events: 3 };
    expect(noteText({ kind: "truncated", text: "…", values: cut })).toBe(
      "文件无法读到末尾（gzip 数据被截断）；此前的 3 个事件已显示。",
    );
  });
});

describe("what views show of the server", () => {
  afterEach(() => {
    localStorage.clear();
    vi.resetModules();
  });

  async function inChinese() {
    localStorage.setItem("torch-tb-profiler.language", "zh-CN");
    const i18n = await import(".");
    await (await import("./current")).settleLanguage();
    await i18n.settleAreas();
    return i18n;
  }

  it("is found by its key, whatever the English words are", async () => {
    const { columnWords, counterName, definitionText, linkText, remedyText } = await inChinese();
    const calls = { id: "operators.calls", label: "Calls of it", help: "How often." };
    expect(columnWords(calls).label).toBe("调用次数");
    expect(columnWords({ ...calls, id: "delta operators.calls" }).label).toBe("Δ 调用次数");
    expect(columnWords({ ...calls, id: "baseline operators.calls" }).help).toMatch(/^基线：/);
    // A column for each trace has the name of the trace.
    const ofTrace = columnWords({ ...calls, label: "run 1", id: "help operators.calls" });
    expect(ofTrace).toEqual({ label: "run 1", help: columnWords(calls).help });
    expect(counterName({ kind: "queue_length", name: "?" })).toBe("已启动未开始");
    expect(definitionText({ step: "?" }, "step")).toMatch(/[\u4e00-\u9fff]/);
    expect(linkText({ key: "checkpointing", text: "?" })).toBe("梯度检查点");
    expect(remedyText({ kind: "no_modules", remedy: "?" })).toContain("或");
  });

  it("is in the server's own words where the key is not known", async () => {
    const { columnWords, definitionText, linkText, noteText, remedyText } = await inChinese();
    const odd = { label: "Odd", help: "Is odd." };
    for (const id of ["", "operators.odd", "beside operators.calls", "delta operators.odd"])
      expect(columnWords({ ...odd, id })).toEqual(odd);
    expect(columnWords(odd)).toEqual(odd);
    expect(definitionText({ odd: "Is odd." }, "odd")).toBe("Is odd.");
    expect(linkText({ key: "odd", text: "Odd" })).toBe("Odd");
    expect(noteText({ kind: "odd", text: "It is odd." })).toBe("It is odd.");
    const launches = { kind: "kernels_lost_at_start", remedy: "schedule()" };
    expect(remedyText({ ...launches, values: { zero_timestamps: false } })).toBe("schedule()");
  });
});

describe("a finding", () => {
  afterEach(() => {
    localStorage.clear();
    vi.resetModules();
  });

  const adviceInChinese = async () => {
    localStorage.setItem("torch-tb-profiler.language", "zh-CN");
    const { findingAdvice, settleAreas } = await import(".");
    await (await import("./current")).settleLanguage();
    await settleAreas();
    return findingAdvice;
  };

  it("is said in Chinese for the devices of the trace", async () => {
    const findingAdvice = await adviceInChinese();
    const found = { id: "sync_points", title: "", detail: "", advice: "" };
    const values = { how: "operator" };
    expect(findingAdvice({ ...found, values })).toContain("torch.cuda.set_sync_debug_mode");
    const xpu = { platform: "xpu", renamed: "torch.cuda.\ttorch.xpu." };
    const said = findingAdvice({ ...found, values: { ...values, ...xpu } });
    expect(said).toContain("`with_stack=True`");
    expect(said).not.toContain("cuda");
    const device = findingAdvice({ ...found, values: { how: "device", ...xpu } });
    expect(device).toContain("torch.xpu.synchronize()");
  });

  it("tells in Chinese who records how a silent host is recorded", async () => {
    const findingAdvice = await adviceInChinese();
    const idle = { id: "device_idle", title: "", detail: "", advice: "" };
    const program = findingAdvice({ ...idle, values: { silent: 0.5 } });
    expect(program).toContain("with_stack=True");
    const asked = { silent: 0.5, server: "vLLM", command: "vllm serve" };
    const server = findingAdvice({ ...idle, values: asked });
    expect(server).toContain("vLLM 为此有自己的选项：`vllm serve`");
    expect(server).not.toContain("profile(");
    const recorded = findingAdvice({ ...idle, values: { unknown: 0.5, stacks: true } });
    expect(recorded).toContain("已采集调用栈");
  });
});

/** Words for the same things that the Chinese page does not use, and what it says instead. */
const ONE_WORD: Readonly<Record<string, string>> = {
  核函数: "内核",
  张量核心: "Tensor Core",
  时间片: "切片",
  生命期: "存活时间",
  集合操作: "集合通信",
  自动求导: "autograd",
  "Stacks 视图": "调用栈视图",
  "内核、复制": "内核、拷贝",
  记录开始前: "采集开始前",
  记录开始之前: "采集开始之前",
  "中间的 rank": "处于中位数的 rank",
};

it("has one word for one thing in Chinese", () => {
  const sources = import.meta.glob<string>(
    ["./zh-CN/**/*.ts", "../../../torch_tb_profiler/words/zh-CN/**/*.toml"],
    { query: "?raw", import: "default", eager: true },
  );
  const found = Object.entries(sources).flatMap(([file, source]) =>
    Object.keys(ONE_WORD).flatMap((word) => (source.includes(word) ? [`${file}: ${word}`] : [])),
  );
  expect(Object.keys(sources).length).toBeGreaterThan(30);
  expect(found).toEqual([]);
});

it("has no words for what every object has", async () => {
  const { trace } = await import("./en/trace");
  for (const name of ["constructor", "__proto__", "toString"])
    expect(trace.categories[name], name).toBeUndefined();
});

it("says in Chinese how many modules of a class a finding is in", () => {
  const place = {
    text: "aten::mm at a.py:2 (f) in 3 of 8 modules of the class Block",
    operator: "aten::mm",
    file: "a.py",
    line: 2,
    function: "f",
    module: "Block",
    annotation: null,
    modules: 3,
    modules_of_class: 8,
  };
  const { where } = zhOverview.findings;
  expect(where(place)).toBe("aten::mm，a.py:2 (f)，Block 类的 3 / 8 个模块");
  expect(where({ ...place, modules: 8 })).toBe("aten::mm，a.py:2 (f)，Block 类的全部 8 个模块");
  expect(where({ ...place, modules: null, modules_of_class: null, file: null })).toBe(
    "aten::mm，Block",
  );
});
