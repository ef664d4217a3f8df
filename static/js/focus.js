/** Focus stays on the same control of the same session, wherever a redraw puts it. */

/** The parts of a control's id: `first-77` is `first` of session 77. */
export function controlOf(id) {
  const found = /^([a-z-]+)-(\d+)$/.exec(id ?? "");
  return found ? { control: found[1], session: found[2] } : null;
}

/**
 * The ids to try, best first, for focus that was on `id`: itself, its row's menu by either name,
 * the same control of the rows that followed, then of those before, nearest first.
 */
export function candidates(id, following, preceding) {
  const found = controlOf(id);
  if (!found) return [id];
  const rows = [...following, ...preceding.toReversed()];
  const own = [id, `move-${found.session}`, `more-${found.session}`];
  return [...own, ...rows.flatMap((row) => [`${found.control}-${row}`, `move-${row}`])];
}

/** Remembers where focus is in `root`; `restore()` puts it back, or as near as can be. */
export function keepFocus(root) {
  const active = document.activeElement;
  if (!active?.id || !root.contains(active)) return { restore() {} };
  const ids = candidates(active.id, ...neighbours(active));
  return {
    restore() {
      // Whoever moved on meanwhile is left where they are.
      const now = document.activeElement;
      if (now && now !== document.body && now.id !== active.id && now.checkVisibility()) return;
      const wanted = ids.map((id) => document.getElementById(id)).find(canTakeFocus);
      const target = wanted ?? heading(root);
      if (target && target !== now) target.focus({ preventScroll: true });
    },
  };
}

function neighbours(element) {
  const row = element.closest("[data-session]");
  const rows = row ? [...row.parentElement.querySelectorAll(":scope > [data-session]")] : [];
  const sessions = rows.map((other) => other.dataset.session);
  const at = rows.indexOf(row);
  return [sessions.slice(at + 1), sessions.slice(0, Math.max(0, at))];
}

function canTakeFocus(element) {
  return element?.checkVisibility({ visibilityProperty: true }) && element.tabIndex >= 0;
}

function heading(root) {
  return root.querySelector("#waiting-title, h1[tabindex], h2[tabindex]") ?? document.querySelector("main");
}
