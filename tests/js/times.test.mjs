import assert from "node:assert/strict";
import test from "node:test";
import { localeOf, timeWords } from "../../static/js/times.js";

const now = new Date("2026-03-29T12:00:00Z");
const german = { language: "de", justNow: "gerade eben", minutes: "vor {n} Min.", hours: "vor {n} Std." };
const english = { language: "en-US", justNow: "just now", minutes: "{n} min ago", hours: "{n} h ago" };
const tokyo = timeWords({ ...german, timeZone: "Asia/Tokyo" });
const berlin = timeWords({ ...german, timeZone: "Europe/Berlin" });
const lima = timeWords({ ...english, timeZone: "America/Lima" });
const ago = (seconds) => new Date(now - seconds * 1000);

test("today is a time, in the zone of the reader", () => {
  assert.equal(tokyo.moment(new Date("2026-03-29T09:05:00Z"), now), "18:05");
});

test("the day has 24 hours, whatever the reader's own kind of the language", () => {
  assert.equal(lima.moment(new Date("2026-03-29T09:05:00Z"), now), "04:05");
  assert.equal(lima.clock(new Date("2026-03-29T22:05:00Z")), "17:05");
  assert.equal(lima.clock(new Date("2026-03-29T05:00:00Z")), "00:00");
  assert.match(lima.whole(new Date("2026-03-29T22:05:00Z")), /17:05/);
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
  assert.equal(berlin.ago(ago(150), now), "vor 2 Min.");
  assert.equal(berlin.ago(ago(7_300), now), "vor 2 Std.");
  assert.equal(lima.ago(ago(150), now), "2 min ago");
  assert.equal(lima.ago(ago(3 * 86_400), now), "3 days ago");
});

test("the whole moment names its zone", () => {
  assert.match(tokyo.whole(now), /GMT\+9|MEZ|JST/);
});

test("days are said as the server says them", () => {
  const there = (language) => timeWords({ ...english, language: localeOf(language), timeZone: "UTC" });
  assert.equal(there("en").moment(new Date("2026-03-03T18:33:00Z"), now), "3 Mar, 18:33");
  assert.equal(there("en").moment(new Date("2025-12-31T18:33:00Z"), now), "31 Dec 2025, 18:33");
  assert.equal(there("en").moment(new Date("2026-03-28T18:33:00Z"), now), "yesterday, 18:33");
  assert.equal(there("en").moment(new Date("2026-03-30T18:33:00Z"), now), "tomorrow, 18:33");
  assert.equal(there("de").moment(new Date("2026-11-03T18:33:00Z"), now), "3. Nov., 18:33");
  assert.equal(there("de").moment(new Date("2025-11-03T18:33:00Z"), now), "3. Nov. 2025, 18:33");
});
