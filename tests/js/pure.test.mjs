import assert from "node:assert/strict";
import test from "node:test";
import { wasDropped } from "../../static/js/drag.js";
import { asks } from "../../static/js/dialog.js";
import { candidates, controlOf } from "../../static/js/focus.js";
import { movedMeanwhile, placeBack, placeBetween } from "../../static/js/places.js";
import { answerIn, meaningOf } from "../../static/js/post.js";
import { delayMs, endOf, retryIn } from "../../static/js/retry.js";
import { signText } from "../../static/js/sign.js";

test("a place names the neighbour above, else the one below, else the front", () => {
  assert.equal(placeBetween("7", "8"), "after 7");
  assert.equal(placeBetween("", "8"), "before 8");
  assert.equal(placeBetween("", ""), "first");
});

test("the way back is past the neighbour that Up or Down would pass", () => {
  assert.equal(placeBack("before 7", "after 9"), "after 7");
  assert.equal(placeBack("first", "after 9"), "before 9");
  assert.equal(placeBack("before 7", undefined), "after 7");
  assert.equal(placeBack(undefined, undefined), "first");
});

test("a row is moved by others if its last move is another one and not one's own", () => {
  const before = new Map([["1", undefined], ["2", "t1"], ["3", "t1"]]);
  const after = new Map([["1", "t2"], ["2", "t1"], ["3", "t2"], ["4", "t2"]]);
  assert.deepEqual(movedMeanwhile(before, after, new Set(["3"])), ["1"]);
});

test("focus falls to the same control of the nearest row that is left", () => {
  assert.deepEqual(controlOf("first-77"), { control: "first", session: "77" });
  assert.deepEqual(candidates("grip-5", ["6"], ["3", "4"]), [
    "grip-5", "move-5", "more-5", "grip-6", "move-6", "grip-4", "move-4", "grip-3", "move-3",
  ]);
  assert.deepEqual(candidates("pause", [], []), ["pause"]);
});

test("a stream is over for good only where asking again cannot help", () => {
  assert.deepEqual([204, 401, 403, 404].map(endOf), ["absent", "signed-out", "not-yours", "not-yours"]);
  assert.deepEqual([200, 429, 500, 503].map(endOf), ["", "", "", ""]);
});

test("pages come back when they were told, then ever later, spread and capped", () => {
  assert.equal(delayMs(0, 4_000, 0.9), 4_000);
  assert.equal(delayMs(1, 4_000, 0), 4_000);
  assert.equal(delayMs(1, 4_000, 1), 8_000);
  assert.equal(delayMs(40, 4_000, 1), 60_000);
});

test("the first line of a stream says when to come back", () => {
  const bytes = (text) => new TextEncoder().encode(text);
  assert.equal(retryIn(bytes("retry: 7345\nid: 3.a\ndata: x\n\n")), 7345);
  assert.equal(retryIn(bytes("data: retry: 7345\n\n")), null);
});

test("an answer means what its status says, and a redirect a sign-in", () => {
  assert.deepEqual([200, 409, 422, 400, 403, 404, 500, 503].map((s) => meaningOf(s, null)), [
    "shown", "shown", "form", "refused", "outdated", "gone", "failed", "failed",
  ]);
  assert.equal(meaningOf(403, null, true), "shown");
  assert.equal(meaningOf(401, "/accounts/login/?next=/"), "sign-in");
});

test("an answer without a header says nothing", () => {
  assert.deepEqual(answerIn(null), { version: "", said: [] });
  assert.deepEqual(answerIn('{"queue:answer": {"version": "1.a", "said": []}}'), { version: "1.a", said: [] });
});

test("a drag that was cancelled or let go elsewhere was not dropped", () => {
  const box = { left: 0, right: 100, top: 0, bottom: 100 };
  assert.equal(wasDropped({ type: "drop" }, box), true);
  assert.equal(wasDropped({ type: "dragend", dataTransfer: { dropEffect: "none" } }, box), false);
  assert.equal(wasDropped({ type: "dragend", dataTransfer: { dropEffect: "move" } }, box), true);
  assert.equal(wasDropped({ type: "pointercancel", clientX: 5, clientY: 5 }, box), false);
  assert.equal(wasDropped({ type: "pointerup", clientX: 5, clientY: 130 }, box), true);
  assert.equal(wasDropped({ type: "pointerup", clientX: 5, clientY: 150 }, box), false);
  assert.equal(wasDropped({ type: "touchend", changedTouches: [{ clientX: 500, clientY: 5 }] }, box), false);
  assert.equal(wasDropped(undefined, box), false);
});

test("only our own pages that ask are shown in a dialog", () => {
  const here = "https://queue.example";
  assert.equal(asks("/sessions/7/move", here), true);
  assert.equal(asks("/sessions/7/unbump", here), true);
  assert.equal(asks("/guilds/7/rules/short-recordings-first", here), true);
  assert.equal(asks("/sessions/7/tracks/3/requeue", here), true);
  assert.equal(asks("/sessions/7/", here), false);
  assert.equal(asks("https://elsewhere.example/sessions/7/move", here), false);
});

test("the sign puts the time where its words want it", () => {
  assert.equal(signText({ paused: "Paused, as of {time}" }, "paused", "14:02"), "Paused, as of 14:02");
  assert.equal(signText({}, "unknown", "14:02"), "");
});
