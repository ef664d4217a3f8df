/** Versions are `<number>.<digest>`; the number is the database's and can be compared. */

/** The number of a version; 0n for what is none. */
export function numberOf(version) {
  const digits = /^\d+(?=\.)/.exec(version ?? "");
  return digits ? BigInt(digits[0]) : 0n;
}

/** Whether what carries `offered` may replace what carries `shown`: never an older moment. */
export function mayReplace(offered, shown) {
  return numberOf(offered) >= numberOf(shown);
}

/** The newer of two offers `{version}`, either of which may be null. */
export function newer(first, second) {
  if (!first || !second) return first ?? second;
  return numberOf(first.version) > numberOf(second.version) ? first : second;
}
