/** The live region: it shows the newest list it was offered, but never under a drag. */
import { keepFocus } from "./focus.js";
import { mayReplace, newer } from "./version.js";

const ROOTS = "#queue, #session, #history, #guilds";

/**
 * The page's region, or null. `prepare(fragment)` makes server markup what is shown here, so
 * that a morph finds little to do; `shown` is called after each redraw.
 */
export function startRegion({ htmx, prepare, shown }) {
  const root = document.querySelector(ROOTS);
  if (!root) return null;
  const blocks = new Set();
  let held = null;

  root.addEventListener("htmx:before:swap", ({ detail }) => {
    for (const { fragment } of detail.tasks) prepare(fragment, root);
  });

  async function show({ html, version }) {
    if (!mayReplace(version, root.dataset.version)) return;
    root.dataset.version = version;
    const focus = keepFocus(root);
    await htmx.swap({ sourceElement: root, target: root, swap: "innerMorph", text: html });
    focus.restore();
    shown(root);
  }

  async function flush() {
    if (blocks.size || !held) return;
    const offer = held;
    held = null;
    await show(offer);
  }

  return {
    root,
    /** A list that came by itself: shown now, or kept, the newest alone, until nothing blocks. */
    offer(html, version) {
      held = newer(held, { html, version });
      if (blocks.size) performance.mark("held");
      return flush();
    },
    /** The list in an answer to this reader: shown even while paused, not under a drag. */
    answer(html, version) {
      if (!blocks.has("drag")) return show({ html, version });
      held = newer(held, { html, version });
      return undefined;
    },
    block(reason) {
      blocks.add(reason);
    },
    unblock(reason) {
      blocks.delete(reason);
      return flush();
    },
    isBlocked: (reason) => blocks.has(reason),
  };
}
