/** Wires the page: nothing else here. */
import { startDialog } from "./dialog.js";
import { startDrag } from "./drag.js";
import { startMenus } from "./menus.js";
import { startMoves } from "./moves.js";
import { startOutcomes } from "./outcomes.js";
import { startRegion } from "./region.js";
import { startRows } from "./rows.js";
import { startSaying } from "./say.js";
import { startSign } from "./sign.js";
import { startStream } from "./stream.js";
import { localeOf, localise, timeWords } from "./times.js";

const { htmx, Sortable } = window;
const words = document.getElementById("words").dataset;
const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const times = timeWords({
  language: localeOf(document.documentElement.lang),
  justNow: words.justNow,
  minutes: words.minutes,
  hours: words.hours,
});
const say = startSaying(words);
const rows = startRows({ isStill });
let drag;
let dialog;

const region = startRegion({
  htmx,
  prepare(fragment, root) {
    localise(fragment, times, now());
    rows.prepare(fragment, root);
  },
  shown() {
    drag?.attach();
    dialog?.changed();
  },
});
const skew = region ? Date.parse(region.root.dataset.at) - Date.now() : 0;
const now = () => new Date(Date.now() + skew);

document.documentElement.dataset.scripts = "";
localise(document, times, now());
setInterval(() => document.hidden || localise(document, times, now()), 30_000);
startMenus();
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

if (region) {
  const outcomes = startOutcomes({ region, say, words });
  const moves = startMoves({ region, rows, words, ...outcomes });
  dialog = startDialog({ rows, words, ...outcomes });
  drag = startDrag({ Sortable, region, moves, isStill });
  if (region.root.hasAttribute("hx-sse:connect")) startLive(outcomes);
}

function startLive({ ended }) {
  let sign;
  const stream = startStream({
    htmx,
    root: region.root,
    heard: ({ html, version }) => region.offer(html, version),
    changed(state, reason) {
      sign.set(state);
      if (state === "ended") ended(reason);
    },
  });
  sign = startSign({ region, clock: times.clock, asOf: stream.asOf });
}
