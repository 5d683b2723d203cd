/**
 * Temporal's `Duration` takes its string form from the package `ms`, whose own types do not resolve under
 * `module: node20`: without this, `Duration` silently becomes `any` and `sleep('1 fortnite')` compiles.
 */
declare module 'ms' {
  type Unit =
    | 'ms'
    | 's'
    | 'm'
    | 'h'
    | 'd'
    | 'second'
    | 'seconds'
    | 'minute'
    | 'minutes'
    | 'hour'
    | 'hours'
    | 'day'
    | 'days';
  export type StringValue = `${number}` | `${number}${Unit}` | `${number} ${Unit}`;
}
