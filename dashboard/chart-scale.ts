/** A value this many times the usual ones would flatten all others. */
const muchMore = 4;

/**
 * Returns the upper end of a chart's scale. A few steps that are far above all others, such as those of a first read, do
 * not count, so that the others stay visible: the chart cuts these steps off and marks them. Pure.
 * @param values of the steps, none negative
 */
export function scaleTop(values: readonly number[]): number {
  const sorted = values.filter((value) => value > 0).toSorted((a, b) => a - b);
  const max = sorted.at(-1);
  if (max === undefined) return 1;
  // The largest value that nine of ten steps do not exceed.
  const usual = sorted[Math.max(0, Math.ceil(sorted.length * 0.9) - 1)]!;
  const rest = sorted.length >= minSteps ? usual : max;
  return max > rest * muchMore ? rest * 1.5 : max;
}

/** With fewer steps that have a value, none is usual. */
const minSteps = 5;
