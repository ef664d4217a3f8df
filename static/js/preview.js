/** A preview that is open follows the list under it: read again when that changed. */
import { ask } from "./post.js";

const LEAST_MS = 1_500;

/** `changed()` after each redraw of the list; `url()` is what the dialog shows. */
export function startPreview({ dialog, url, words }) {
  let timer = 0;

  const isIdle = () => dialog.open && dialog.getAttribute("aria-busy") !== "true";
  const shown = () => dialog.querySelector("#preview");

  async function refresh() {
    timer = 0;
    if (!isIdle() || !shown()) return;
    const asked = url();
    const reply = await ask(asked);
    if (reply.meaning === "shown" && isIdle() && shown() && url() === asked) draw(reply.html);
  }

  function draw(html) {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const next = fresh.content.querySelector("#preview");
    if (!next || next.outerHTML === shown().outerHTML) return;
    shown().replaceWith(next);
    drawButtons(fresh.content);
    dialog.querySelector("#refreshed").textContent = words.refreshed;
  }

  // The buttons stay while they are the same: one of them may be under a finger just now.
  function drawButtons(fresh) {
    if (Boolean(fresh.querySelector("#apply")) === Boolean(dialog.querySelector("#apply"))) return;
    const hadFocus = dialog.querySelector("form").contains(document.activeElement);
    dialog.querySelector("form").replaceWith(fresh.querySelector("form"));
    if (hadFocus) dialog.querySelector("#apply, #leave").focus();
  }

  return {
    changed() {
      if (!timer && isIdle() && shown()) timer = setTimeout(refresh, LEAST_MS);
    },
  };
}
