/** What the page adds to rows of its own: the tint of a remote move, the way to undo one's own. */
import { movedMeanwhile } from "./places.js";

const TINT_MS = 2_000;
const STILL_TINT_MS = 10_000;

export function startRows({ isStill }) {
  const undos = new Map();
  const tinted = new Set();
  let own = new Set();

  function tint(row) {
    const id = row.dataset.session;
    tinted.add(id);
    setTimeout(() => {
      tinted.delete(id);
      delete document.getElementById(`s-${id}`)?.dataset.changed;
    }, isStill() ? STILL_TINT_MS : TINT_MS);
  }

  function addUndo(row, to) {
    const id = row.dataset.session;
    const after = row.querySelector(`#last-${id}`);
    if (!after || row.querySelector(`#undo-${id}`)) return;
    const button = document.getElementById("undo").content.firstElementChild.cloneNode(true);
    button.id = `undo-${id}`;
    button.value = to;
    button.setAttribute("form", "act");
    button.setAttribute("formaction", after.getAttribute("formaction"));
    button.setAttribute("aria-labelledby", `undo-${id} title-${id}`);
    after.after(button);
  }

  /** Puts the new places into the rows shown: most rows of a redraw differ in nothing else. */
  function renumber(rows) {
    for (const row of rows) {
      const shown = document.getElementById(row.id)?.querySelector(":scope > .n")?.lastChild;
      const place = row.querySelector(":scope > .n").lastChild;
      if (shown?.nodeType === Node.TEXT_NODE && place?.nodeType === Node.TEXT_NODE) shown.data = place.data;
    }
  }

  /** Makes rows that came from the server what they are on this page. */
  function prepare(fragment, root) {
    const rows = [...fragment.querySelectorAll("[data-session]")];
    const after = new Map(rows.map((row) => [row.dataset.session, row.dataset.moved]));
    const shown = [...root.querySelectorAll("[data-session]")];
    const before = new Map(shown.map((row) => [row.dataset.session, row.dataset.moved]));
    renumber(rows);
    const moved = new Set(own === "all" ? [] : movedMeanwhile(before, after, own));
    for (const row of rows) {
      const id = row.dataset.session;
      if (moved.has(id)) tint(row);
      if (tinted.has(id)) row.dataset.changed = "";
      if (undos.has(id)) addUndo(row, undos.get(id));
    }
  }

  return {
    prepare,
    /** What moves while `work` runs is the reader's own doing: a Set of sessions, or "all". */
    async during(sessions, work) {
      own = sessions;
      try {
        return await work();
      } finally {
        own = new Set();
      }
    },
    remember: (session, to) => undos.set(session, to),
    forget(session) {
      undos.delete(session);
      document.getElementById(`undo-${session}`)?.remove();
    },
  };
}
