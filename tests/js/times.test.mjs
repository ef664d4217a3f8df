import assert from "node:assert/strict";
import test from "node:test";
import { localeOf, timeWords } from "../../static/js/times.js";

const now = new Date("2026-03-29T12:00:00Z");
const tokyo = timeWords({ language: "de", justNow: "gerade eben", timeZone: "Asia/Tokyo" });
const berlin = timeWords({ language: "de", justNow: "gerade eben", timeZone: "Europe/Berlin" });
const lima = timeWords({ language: "en", justNow: "just now", timeZone: "America/Lima" });
const ago = (seconds) => new Date(now - seconds * 1000);

test("today is a time, in the zone of the reader", () => {
  assert.equal(tokyo.moment(new Date("2026-03-29T09:05:00Z"), now), "18:05");
  assert.match(lima.moment(new Date("2026-03-29T09:05:00Z"), now), /^04:05\sAM$/);
});

test("days change at midnight of the reader, not of Greenwich", () => {
  const late = new Date("2026-03-28T16:30:00Z");
  assert.equal(tokyo.moment(late, now), "01:30");
  assert.equal(berlin.moment(late, now), "gestern, 17:30");
});

test("the day that the clocks change is still yesterday's next", () => {
  const before = new Date("2026-03-28T23:30:00Z");
  assert.equal(berlin.moment(before, now), "00:30");
});

test("another year is said", () => {
  assert.match(berlin.moment(new Date("2025-03-29T09:05:00Z"), now), /2025/);
  assert.doesNotMatch(berlin.moment(new Date("2026-01-29T09:05:00Z"), now), /2026/);
});

test("how long ago is said in the reader's language, and the future is now", () => {
  assert.equal(berlin.ago(ago(59), now), "gerade eben");
  assert.equal(berlin.ago(ago(-5), now), "gerade eben");
  assert.match(berlin.ago(ago(150), now), /^vor 2 Min/);
  assert.match(berlin.ago(ago(7_300), now), /^vor 2 (Std|h)/);
  assert.match(lima.ago(ago(3 * 86_400), now), /^3 days ago/);
});

test("the whole moment names its zone", () => {
  assert.match(tokyo.whole(now), /GMT\+9|MEZ|JST/);
});

test("the reader's own kind of the page's language is taken", () => {
  assert.equal(localeOf("en", ["de-AT", "en-GB"]), "en-GB");
  assert.equal(localeOf("de", ["fr"]), "de");
});
