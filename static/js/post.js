/** One request of a form to the queue, and what came of it. */

const PATIENCE_MS = 10_000;

/**
 * What an answer means: "shown", "form", "sign-in", "outdated", "gone", "refused" or "failed".
 * `brings` is whether it brings a list: who may not do something is still shown what is there.
 */
export function meaningOf(status, redirect, brings = false) {
  if (redirect) return "sign-in";
  if (status === 200 || status === 409 || (status === 403 && brings)) return "shown";
  const meanings = { 400: "refused", 403: "outdated", 404: "gone", 422: "form" };
  return meanings[status] ?? "failed";
}

/** The version and the sentences that an answer carries in its header. */
export function answerIn(header) {
  try {
    return JSON.parse(header)["queue:answer"];
  } catch {
    return { version: "", said: [] };
  }
}

/** Sends `fields` (FormData) to `url`, or reads it without; never throws. */
export async function ask(url, fields) {
  const request = {
    method: fields ? "POST" : "GET",
    headers: { "HX-Request": "true", "HX-Current-URL": location.href },
    body: fields && new URLSearchParams(fields),
    signal: AbortSignal.timeout(PATIENCE_MS),
  };
  try {
    const response = await fetch(url, request);
    const redirect = response.headers.get("HX-Redirect");
    const html = await response.text();
    const { version, said } = answerIn(response.headers.get("HX-Trigger"));
    const meaning = meaningOf(response.status, redirect, Boolean(version));
    return { meaning, redirect, html, version, said };
  } catch {
    return { meaning: "failed", said: [] };
  }
}
