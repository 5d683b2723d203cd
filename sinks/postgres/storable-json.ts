/** What stands for a character that cannot be stored: U+FFFD, the sign of Unicode for just that. */
const REPLACEMENT = '\\ufffd';

/**
 * A value as JSON that PostgreSQL takes as `jsonb`. U+0000 and lone surrogates are legal in JSON but cannot be text
 * there ("unsupported Unicode escape sequence"), so each becomes U+FFFD. Source: PostgreSQL 15, 8.14, "JSON Types".
 */
export function storableJson(value: unknown): string {
  // JSON.stringify writes exactly these as escapes; each escape is matched whole, so that `\\u0000` stays what it is.
  return JSON.stringify(value).replace(/\\(?:u([0-9a-f]{4})|.)/g, (escape, hex: string | undefined) =>
    hex === '0000' || (hex !== undefined && /^d[89a-f]/.test(hex)) ? REPLACEMENT : escape,
  );
}

/** Whether a text can be stored as it is. An identity that cannot must not be changed: two could become one. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && !/\p{Surrogate}/u.test(text);
}
