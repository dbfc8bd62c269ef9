import { expect, it } from "vitest";
import { parseMessage, replyTo } from "./messages";

it("answers a request of the host with its id", () => {
  const message = parseMessage('{"type":"experimental.DataReloaded","id":7,"isReply":false}');
  expect(message).toEqual({ type: "experimental.DataReloaded", id: 7, isReply: false });
  expect(message && JSON.parse(replyTo(message))).toEqual({
    type: "experimental.DataReloaded",
    id: 7,
    payload: null,
    error: null,
    isReply: true,
  });
});

it("ignores what is not a message", () => {
  for (const data of ["", "{", "null", 3, null, { type: "x" }, { id: 1 }]) {
    expect(parseMessage(data)).toBeNull();
  }
});
