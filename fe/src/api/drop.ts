/** Files that are given to the server; not in the door of this folder, because hardly a visit needs it. */
import { original } from "../format";
import { ApiError, addressOf, errorFrom, readJson } from "./client";

/** The most bytes that a file may have. Fails where the server takes none. */
export async function mostBytes(): Promise<number> {
  const answer = (await body(await fetch(addressOf("drop")))) as { most_bytes: number };
  return answer.most_bytes;
}

/** Sends a file; the run that it belongs to: a new one, or that of the files it was dropped with. */
export async function sendFile(file: File, to: string | null): Promise<string> {
  const query = new URLSearchParams({
    name: file.name,
    ...(to === null ? {} : { to: original(to) }),
  });
  const answer = await fetch(addressOf(`drop?${query}`), {
    method: "POST",
    headers: { "Content-Type": "application/octet-stream" },
    body: file,
  });
  return ((await body(answer)) as { run: string }).run;
}

async function body(response: Response): Promise<unknown> {
  const found = await readJson(response);
  if (!response.ok) throw errorFrom(response.status, found, "drop");
  return found;
}

export { ApiError };
