import { afterEach, describe, expect, it, vi } from "vitest";
import { ApiError, errorFrom, get, requestPath, setBase } from "./client";

setBase(new URL("http://127.0.0.1/prefix/"));

afterEach(() => void vi.unstubAllGlobals());

function answer(status: number, body: string) {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(body, { status })),
  );
}

describe("requestPath", () => {
  it("leaves out what is not given and encodes the rest", () => {
    expect(requestPath("operators", { run: "a&b", input_shape: null, span: undefined })).toBe(
      "api/operators?run=a%26b",
    );
  });
});

describe("errorFrom", () => {
  it("takes the server's words", () => {
    const error = errorFrom(404, { error: "no such run" }, "api/overview");
    expect(error).toMatchObject({ status: 404, message: "no such run", path: "api/overview" });
    expect(error.loading).toBe(false);
    expect(error.transient).toBe(false);
  });

  it("knows how far a loading trace is", () => {
    const error = errorFrom(409, { error: "loading", state: "loading", progress: 0.4 }, "p");
    expect(error).toMatchObject({ loading: true, state: "loading", progress: 0.4 });
    const bytes = { bytes_done: 1, bytes_total: 4 };
    expect(errorFrom(409, { progress: bytes }, "p").progress).toBe(0.25);
    expect(errorFrom(409, { progress: "much" }, "p").progress).toBeNull();
  });

  it("copes with a body that is no JSON object", () => {
    // In English the words are the server's, whatever their kind.
    const why = { kind: "no_such_run", values: { run: "a" } };
    expect(errorFrom(404, { error: "there is no run 'a'", why }, "p").message).toBe(
      "there is no run 'a'",
    );
    expect(errorFrom(500, "oops", "p").message).toContain("500");
  });
});

describe("get", () => {
  it("gives the answer", async () => {
    answer(200, '{"a":1}');
    await expect(get("status")).resolves.toEqual({ a: 1 });
    const [url] = vi.mocked(fetch).mock.calls[0] ?? [];
    expect(String(url)).toBe("http://127.0.0.1/prefix/api/status");
  });

  it("turns a refused connection into an error of status 0", async () => {
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => {
        throw new TypeError("Failed to fetch");
      }),
    );
    const error = await get("status").catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 0, transient: true });
  });

  it("does not take another server's page for an answer", async () => {
    answer(200, "<html>");
    await expect(get("status")).rejects.toThrow("not JSON");
  });

  it("lets an abort through as it is", async () => {
    const abort = new AbortController();
    abort.abort();
    vi.stubGlobal(
      "fetch",
      vi.fn(async () => {
        throw abort.signal.reason;
      }),
    );
    await expect(get("status", {}, abort.signal)).rejects.toBe(abort.signal.reason);
  });
});

it("says in Chinese what the server refuses, by its kind", async () => {
  localStorage.setItem("torch-tb-profiler.language", "zh-CN");
  vi.resetModules();
  const { settleLanguage } = await import("../i18n/current");
  await settleLanguage();
  const client = await import("./client");
  const why = { kind: "no_such_step", values: { step: "7" } };
  expect(client.errorFrom(404, { error: "there is no step '7'", why }, "p").message).toBe(
    "没有名为 7 的步",
  );
  expect(client.errorFrom(500, undefined, "p").message).toBe("服务器返回了状态码 500。");
  localStorage.clear();
  vi.resetModules();
});
