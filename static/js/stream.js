/** The stream of a region, opened by hx-sse: guarded, watched, and opened again by us alone. */
import { delayMs, endOf, isStream, retryIn } from "./retry.js";

const TICK_MS = 1_000;

/**
 * Keeps `root` posted: `heard({html, version})` for a list, `changed(state, reason)` for
 * "live", "reconnecting", "away" and "ended".
 */
export function startStream({ htmx, root, heard, changed }) {
  const heartbeatMs = Number(root.dataset.heartbeat) * 1_000;
  let state = "idle"; // idle, connecting, open, ended
  let attempt = 0;
  let retryMs = 1_000;
  let lastByte = Date.now();
  let stop = () => {};
  let wasSilent = false;
  let wasHidden = false;
  let timer;

  const asOf = () => lastByte;

  function connect() {
    if (state !== "idle" || document.hidden) return;
    htmx.trigger(root, "live:retry");
  }

  function lost() {
    if (state === "ended") return;
    state = "idle";
    if (!wasHidden) changed("reconnecting");
    const baseMs = wasSilent ? TICK_MS : retryMs; // then it is this page alone that comes back
    clearTimeout(timer);
    timer = setTimeout(connect, wasHidden ? 0 : delayMs(attempt, baseMs, Math.random()));
    attempt += 1;
    wasSilent = wasHidden = false;
  }

  function end(reason) {
    state = "ended";
    clearTimeout(timer);
    stop();
    changed("ended", reason);
  }

  /** `fetch`, but nothing it meets is thrown, and every byte is seen as it comes by. */
  async function watchedFetch(url, request) {
    try {
      const response = await fetch(url, request);
      return isStream(response) ? watched(response) : response;
    } catch {
      return new Response(null, { status: 503 });
    }
  }

  function watched(response) {
    const reader = response.body.getReader();
    let isFirst = true;
    let isClosed = false;
    const body = new ReadableStream({
      start(controller) {
        stop = () => {
          stop = () => {};
          reader.cancel().catch(() => {});
          if (!isClosed) controller.close();
          isClosed = true;
        };
      },
      async pull(controller) {
        const { value } = await reader.read().catch(() => ({}));
        if (!value) return stop();
        lastByte = Date.now();
        if (isFirst) retryMs = retryIn(value) ?? retryMs;
        isFirst = false;
        controller.enqueue(value);
      },
      cancel() {
        isClosed = true;
        return reader.cancel().catch(() => {});
      },
    });
    return new Response(body, { status: response.status, headers: response.headers });
  }

  root.addEventListener("htmx:config:request", (event) => {
    if (state !== "idle" || document.hidden) return event.preventDefault();
    state = "connecting";
    event.detail.ctx.fetch = watchedFetch;
  });
  // Whatever is no stream is never swapped into the list.
  root.addEventListener("htmx:before:response", (event) => {
    event.preventDefault();
    const reason = endOf(event.detail.ctx.response.status);
    return reason ? end(reason) : lost();
  });
  root.addEventListener("htmx:before:sse:connection", (event) => {
    // Ours alone opens again; and one that opens behind another tab would stay, as nothing closes it.
    wasHidden ||= document.hidden;
    if (event.detail.connection.attempt === 0 && state !== "ended" && !document.hidden) return;
    event.preventDefault();
    stop();
  });
  root.addEventListener("htmx:after:sse:connection", () => {
    state = "open";
    lastByte = Date.now();
  });
  root.addEventListener("htmx:sse:close", lost);
  root.addEventListener("htmx:error", () => state === "connecting" && lost());
  root.addEventListener("htmx:before:sse:message", (event) => {
    event.preventDefault();
    const { event: name, data, id } = event.detail.message;
    if (name === "end") return end(data);
    if (name === "away") return changed("away");
    attempt = 0;
    changed("live");
    if (!name) heard({ html: data, version: id });
  });
  document.addEventListener("visibilitychange", () => {
    // hx-sse closes an open one, and ends it when the page is looked at again.
    if (state === "open") return void (wasHidden ||= document.hidden);
    clearTimeout(timer);
    setTimeout(connect);
  });
  // A network that went away closes nothing, and one that is back need not be waited for.
  addEventListener("offline", () => state === "open" && stop());
  addEventListener("online", () => {
    clearTimeout(timer);
    connect();
  });
  setInterval(() => {
    const isSilent = Date.now() - lastByte > 2 * heartbeatMs + TICK_MS;
    if (state !== "open" || !isSilent || document.hidden) return;
    wasSilent = true;
    stop();
  }, TICK_MS);

  return { asOf };
}
