import { grouped } from '../../base/words.js';

/** The last 60 minutes, one bar each. */
interface Chart {
  /** Oldest first; the last is the current minute. */
  readonly minutes: readonly number[];
  /** Name of the count, such as "changes found". */
  readonly of: string;
  /** Taller than a table row. */
  readonly large?: boolean;
}

const barWidth = 3;
const height = 24;

/**
 * Returns the height of a bar. The scale is the square root, so that a usual minute is still visible beside a minute
 * with a first read of thousands of items.
 */
function highOf(n: number, max: number): number {
  return n === 0 ? 0.6 : Math.max(1.5, Math.sqrt(n / max) * height);
}

export function MinutesChart({ minutes, of, large = false }: Chart) {
  const max = Math.max(...minutes, 1);
  const all = minutes.reduce((sum, n) => sum + n, 0);
  const path = minutes
    .map((n, position) => {
      const high = highOf(n, max);
      return `M${position * barWidth} ${height}v-${high.toFixed(1)}h${barWidth - 0.8}v${high.toFixed(1)}z`;
    })
    .join('');
  return (
    <svg
      class={large ? 'minutes large' : 'minutes'}
      viewBox={`0 0 ${minutes.length * barWidth} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${grouped(all)} ${of} in the last hour, at most ${grouped(max)} per minute`}
    >
      <title>{`${grouped(all)} ${of} in the last hour, at most ${grouped(max)} per minute`}</title>
      <path d={path} />
    </svg>
  );
}

/** Returns the count of the last complete minute. */
export function perMinute(minutes: readonly number[]): number {
  return minutes.at(-2) ?? 0;
}
