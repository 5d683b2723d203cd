/**
 * Returns SQL that replaces U+0000 and lone surrogates in a stored JSON value with U+FFFD, so that PostgreSQL can read
 * its members.
 *
 * The type `json` stores both as escapes, so a sink receives `data` exactly as the service sent it. But `->`, `->>`,
 * `json_each` and a cast to `jsonb` unescape every text in the value, even texts that are not requested, and fail on
 * these characters. Every statement that reads members of a payload therefore uses this function, and a test checks
 * that (decision 0043). Source: PostgreSQL 15, 8.14, "JSON Types".
 *
 * The pattern includes the backslashes before an escape, so that `\\u0000` (an escaped backslash, followed by letters)
 * stays unchanged.
 * @param json an SQL expression of type `json`; it appears more than once in the result
 */
export function readableJson(json: string): string {
  return `(case when ${json}::text ~ '\\\\u(0000|[dD][89a-fA-F])'
    then regexp_replace(${json}::text, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\1\\\\ufffd', 'g')::json
    else ${json} end)`;
}
