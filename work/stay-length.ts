/** Maximum length of a stay (decision 0088). */
const longestStayMs = 120_000;

/** Returns the length of a stay. Stays differ by up to a quarter, so that those of a process do not all end together. */
export function stayLengthMs(): number {
  return longestStayMs * (0.75 + Math.random() / 4);
}
