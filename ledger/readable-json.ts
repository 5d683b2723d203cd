/**
 * SQL for a stored JSON value in a form whose members can be read: U+0000 and lone surrogates become U+FFFD.
 *
 * Type `json` keeps both as escapes, since `data` reaches a sink as the service sent it, but `->`, `->>`, `json_each`
 * and a cast to `jsonb` unescape every text of the value on their way, also those that are not requested, and fail.
 * Every statement that looks into a payload goes through here; a test holds that (decision 0043).
 * Source: PostgreSQL 15, 8.14, "JSON Types".
 *
 * The escapes are matched together with the backslashes before them, so that `\\u0000` (a written backslash) stays.
 * @param json an SQL expression of type `json`; it is repeated
 */
export function readableJson(json: string): string {
  return `(case when ${json}::text ~ '\\\\u(0000|[dD][89a-fA-F])'
    then regexp_replace(${json}::text, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\1\\\\ufffd', 'g')::json
    else ${json} end)`;
}
