/** Moves and whatever else the rows' buttons ask: one after the other, each told of as it ends. */
import { placeOf } from "./places.js";
import { ask } from "./post.js";

const SAVING_AFTER_MS = 300;

/** `answered(reply, sessions)` shows what an answer brings and returns whether it could. */
export function startMoves({ region, rows, answered, fail, words }) {
  const form = document.getElementById("act");
  let last = Promise.resolve();
  let pending = 0;

  function send(job) {
    pending += 1;
    region.block("save");
    last = last.then(() => run(job)).finally(() => {
      pending -= 1;
      return pending ? undefined : region.unblock("save");
    });
    return last;
  }

  async function run(job) {
    const to = job.to();
    if (to === null) return job.revert?.();
    const fields = new FormData(form);
    for (const [name, value] of Object.entries({ to, ...job.fields })) fields.set(name, value);
    const busy = markBusy(job.session);
    const reply = await ask(job.url, fields);
    busy.done();
    if (reply.meaning !== "shown") {
      job.revert?.();
      return fail(reply, () => send({ ...job, revert: undefined }));
    }
    const isDone = reply.said.some(({ tone }) => tone === "success");
    if (isDone && job.back) rows.remember(job.session, job.back);
    if (isDone && job.isUndo) rows.forget(job.session);
    const undo = isDone && job.back ? undoOf(job) : [];
    await rows.during(new Set([job.session]), () => answered(reply, undo));
  }

  function markBusy(session) {
    const row = document.getElementById(`s-${session}`);
    const timer = setTimeout(() => {
      row?.setAttribute("aria-busy", "true");
      if (row) row.dataset.saving = words.saving;
    }, SAVING_AFTER_MS);
    return {
      done() {
        clearTimeout(timer);
        row?.removeAttribute("aria-busy");
        delete row?.dataset.saving;
      },
    };
  }

  function undoOf(job) {
    const undo = { url: job.url, session: job.session, isUndo: true, fields: { undo: "1" }, to: () => job.back };
    return [{ label: words.undo, act: () => send(undo) }];
  }

  form?.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = event.submitter;
    if (!button || button.getAttribute("aria-disabled") === "true") return;
    const row = button.closest("[data-session]");
    const session = row?.dataset.session ?? "";
    const isUndo = button.id.startsWith("undo-");
    closeMenu(button);
    send({
      url: button.formAction,
      session,
      isUndo,
      fields: isUndo ? { undo: "1" } : {},
      back: row && button.name === "to" && !isUndo ? placeOf(row) : "",
      // Read when its turn comes: what was clicked before may have changed the neighbours.
      to: () => document.getElementById(button.id)?.value ?? button.value,
    });
  });

  /** Moves a row by one with the keys that its handle names. */
  function nudge(row, direction) {
    const id = row.dataset.session;
    const button = () => document.getElementById(`${direction}-${id}`);
    const isEnd = () => button()?.getAttribute("aria-disabled") === "true";
    if (!button() || isEnd()) return;
    const to = () => (button() && !isEnd() ? button().value : null);
    send({ url: button().formAction, session: id, back: placeOf(row), to });
  }

  document.addEventListener("keydown", (event) => {
    const direction = { ArrowUp: "up", ArrowDown: "down" }[event.key];
    if (!direction || !event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey) return;
    const row = event.target.closest?.("button.grip")?.closest("[data-session]");
    if (!row) return;
    event.preventDefault();
    nudge(row, direction);
  });

  return {
    /** A row that was dropped where it stands now; `back` is where it stood. */
    drop(row, { back, revert }) {
      const to = placeOf(row);
      const url = document.getElementById(`first-${row.dataset.session}`).formAction;
      return send({ url, session: row.dataset.session, back, revert, to: () => to });
    },
  };
}

function closeMenu(button) {
  const menu = button.closest("details");
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus({ preventScroll: true });
}
