/** Digits that spreadsheets and JSON readers preserve; longer numbers lose their last digits. */
const digitsKept = 15;

interface PlainDecimal {
  readonly text: string;
  /** Whether the number is too long to be exact: a code or card number entered as a number. */
  readonly digitsLost: boolean;
}

/**
 * Formats a number as people write it: never in scientific notation, without rounding errors (0.1 + 0.2 is 0.3).
 * @param value finite
 */
export function plainDecimal(value: number): PlainDecimal {
  const digitsLost = Math.abs(value) >= 10 ** digitsKept;
  const rounded = digitsLost ? value : Number(value.toPrecision(digitsKept));
  return { text: withoutExponent(String(rounded)), digitsLost };
}

function withoutExponent(text: string): string {
  const found = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (found === null) return text === '-0' ? '0' : text;
  const [, sign = '', first = '', fraction = '', exponent = ''] = found;
  const digits = first + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return digits.length <= point
    ? `${sign}${digits.padEnd(point, '0')}`
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
