/** Places in the order, as moves name them: `first`, `last`, `before 7`, `after 7`. */

/** Where something stands that follows `previous` and precedes `next` (ids; "" for none). */
export function placeBetween(previous, next) {
  if (previous) return `after ${previous}`;
  return next ? `before ${next}` : "first";
}

/** The move back to where a row stands whose own Up and Down are these. */
export function placeBack(up, down) {
  const above = /^before (\d+)$/.exec(up ?? "");
  const below = /^after (\d+)$/.exec(down ?? "");
  return placeBetween(above?.[1] ?? "", below?.[1] ?? "");
}

/** Where `row` stands now: beside its neighbours in the line, else as its own menu has it. */
export function placeOf(row) {
  if (row.parentElement?.id === "line") {
    const beside = (sibling) => sibling?.dataset.session ?? "";
    return placeBetween(beside(row.previousElementSibling), beside(row.nextElementSibling));
  }
  const value = (name) => document.getElementById(`${name}-${row.dataset.session}`)?.value;
  return placeBack(value("up"), value("down"));
}

/** The sessions whose last move is another one than it was, the reader's own left out. */
export function movedMeanwhile(before, after, own) {
  return [...after.keys()].filter((id) => !own.has(id) && before.has(id) && before.get(id) !== after.get(id));
}
