/** When to come back to a stream, and when not to. */

const CAP_MS = 60_000;
const ENDS = { 204: "absent", 401: "signed-out", 403: "not-yours", 404: "not-yours" };

/** Why a stream that was answered so is over for good; "" to try again. */
export function endOf(status) {
  return ENDS[status] ?? "";
}

/** Somewhere in a window that doubles with each attempt; `share` (0 to 1) spreads the pages. */
export function delayMs(attempt, baseMs, share) {
  const window = Math.min(baseMs * 2 ** Math.min(attempt, 16), CAP_MS);
  return attempt === 0 ? window : window / 2 + (window / 2) * share;
}

/** The `retry:` that a stream begins with, in milliseconds, or null. */
export function retryIn(bytes) {
  const found = /^retry: ?(\d+)\n/.exec(new TextDecoder().decode(bytes.subarray(0, 32)));
  return found ? Number(found[1]) : null;
}

export function isStream(response) {
  const type = response.headers.get("Content-Type") ?? "";
  return response.status === 200 && type.startsWith("text/event-stream") && response.body !== null;
}
