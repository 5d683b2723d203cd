/**
 * Codes are eight digits, scattered and often with leading zeros, since a code is text and a spreadsheet that takes
 * it for a number loses it. Scattering multiplies by a prime modulo 10^8 and can be undone, so that a code
 * leads back to its registrant without a table of a million codes.
 */
const MODULUS = 100_000_000;
const FACTOR = 7919;
const INVERSE = inverseOf(FACTOR, MODULUS);
const SHIFT = 4217;

export function codeOfIndex(index: number): string {
  return String((index * FACTOR + SHIFT) % MODULUS).padStart(8, '0');
}

/** The index a code was made from, or null for a code of another form. It may lie beyond the registrants there are. */
export function indexOfCode(code: string): number | null {
  if (!/^\d{8}$/.test(code)) return null;
  return Number((BigInt(Number(code) - SHIFT + MODULUS) * INVERSE) % BigInt(MODULUS));
}

function inverseOf(factor: number, modulus: number): bigint {
  let [remainder, next] = [BigInt(modulus), BigInt(factor)];
  let [coefficient, nextCoefficient] = [0n, 1n];
  while (next !== 0n) {
    const quotient = remainder / next;
    [remainder, next] = [next, remainder - quotient * next];
    [coefficient, nextCoefficient] = [nextCoefficient, coefficient - quotient * nextCoefficient];
  }
  return ((coefficient % BigInt(modulus)) + BigInt(modulus)) % BigInt(modulus);
}
