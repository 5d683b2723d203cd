/** Separates our sentence from the words of a destination in `deliveries.detail`. */
const mark = '; it answered: ';

/**
 * Returns the text that is stored with a delivery: our sentence and what the destination said. It is shown only with
 * this delivery and its dead letter. Everything else uses our sentence alone (`ourSentence`).
 */
export function storedDetail(outcome: { readonly detail: string; readonly answer?: string }): string {
  const { detail, answer } = outcome;
  return answer === undefined ? detail : `${detail}${mark}${answer}`;
}

/** SQL that returns our sentence of a stored detail. @param column SQL of the column */
export function ourSentence(column: string): string {
  return `split_part(${column}, '${mark}', 1)`;
}
