import assert from "node:assert/strict";
import test from "node:test";
import { mayReplace, newer, numberOf } from "../../static/js/version.js";

test("numbers beyond what a double holds are still told apart", () => {
  assert.equal(mayReplace("9007199254740992.a", "9007199254740993.b"), false);
  assert.equal(mayReplace("9007199254740993.a", "9007199254740992.b"), true);
});

test("the same moment in another digest may replace it", () => {
  assert.equal(mayReplace("7.a", "7.b"), true);
});

test("what is no version is older than all", () => {
  assert.equal(numberOf(undefined), 0n);
  assert.equal(numberOf("x.7"), 0n);
  assert.equal(mayReplace("", "1.a"), false);
});

test("of two offers the newer one is kept, and the later one of equals", () => {
  const old = { version: "1.a" };
  const young = { version: "2.b" };
  assert.equal(newer(young, old), young);
  assert.equal(newer(old, young), young);
  assert.equal(newer(null, old), old);
  assert.deepEqual(newer({ version: "1.a", n: 1 }, { version: "1.b", n: 2 }).n, 2);
});
