/** Pages that ask before they act, shown over the list instead of in its place. */
import { candidates } from "./focus.js";
import { ask } from "./post.js";
import { startPreview } from "./preview.js";

const ASKING = /\/(move|bump|unbump|hold|release|cancel|requeue|drop|rules\/[a-z-]+)$/;

/** Whether a link leads to a page that asks. */
export function asks(href, origin) {
  const url = new URL(href, origin);
  return url.origin === origin && ASKING.test(url.pathname);
}

/** Answers what follows the list: `changed()` after each of its redraws. */
export function startDialog({ answered, fail, rows, words }) {
  const dialog = document.getElementById("ask");
  let url = "";
  let opener = "";

  async function open(link) {
    url = link.href;
    opener = link.closest("details")?.querySelector("summary")?.id ?? link.id;
    const menu = link.closest("details");
    if (menu) menu.open = false;
    const reply = await ask(url);
    if (reply.meaning !== "shown") return fail(reply, () => open(link));
    draw(reply.html);
    dialog.showModal();
  }

  function draw(html) {
    dialog.innerHTML = html;
    dialog.setAttribute("aria-labelledby", "ask-title");
    dialog.querySelector("[autofocus], input, select, .primary, .danger, .button")?.focus();
  }

  async function send(form, submitter) {
    const fields = new FormData(form, submitter);
    const after = document.querySelector("#act [name=after]");
    if (after) fields.set("after", after.value);
    dialog.setAttribute("aria-busy", "true");
    const reply = await ask(url, fields);
    dialog.removeAttribute("aria-busy");
    if (reply.meaning === "form") return draw(reply.html);
    await closed();
    if (reply.meaning !== "shown") return fail(reply, () => send(form, submitter));
    return rows.during("all", () => answered(reply, []));
  }

  // Focus is back in the list before the list is redrawn, which then keeps it where it is.
  function closed() {
    if (!dialog.open) return undefined;
    const done = new Promise((resolve) => dialog.addEventListener("close", resolve, { once: true }));
    dialog.close();
    return done;
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("#queue a, #session a");
    const isPlain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || !asks(link.href, location.origin)) return;
    event.preventDefault();
    open(link);
  });
  dialog.addEventListener("submit", (event) => {
    event.preventDefault();
    if (dialog.getAttribute("aria-busy") !== "true") send(event.target, event.submitter);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("#leave")) {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog.addEventListener("close", () => {
    dialog.replaceChildren();
    // The list may have been redrawn meanwhile, and the menu have its other name.
    const ids = candidates(opener, [], []).map((id) => document.getElementById(id));
    ids.find((back) => back?.checkVisibility())?.focus({ preventScroll: true });
  });
  return startPreview({ dialog, url: () => url, words });
}
