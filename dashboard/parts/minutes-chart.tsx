import { grouped } from '../words.js';

/** The last sixty minutes as bars, so that a single busy minute is visible. */
interface Chart {
  /** Oldest first; the last is the present minute. */
  readonly minutes: readonly number[];
  /** Name of the count, such as "changes found". */
  readonly of: string;
  /** Higher than a line of a table. */
  readonly large?: boolean;
}

const barWidth = 3;
const height = 24;

/** By the square root: what is found within a minute of every day still shows beside a first read of thousands. */
function highOf(n: number, most: number): number {
  return n === 0 ? 0.6 : Math.max(1.5, Math.sqrt(n / most) * height);
}

export function MinutesChart({ minutes, of, large = false }: Chart) {
  const most = Math.max(...minutes, 1);
  const all = minutes.reduce((sum, n) => sum + n, 0);
  const path = minutes
    .map((n, position) => {
      const high = highOf(n, most);
      return `M${position * barWidth} ${height}v-${high.toFixed(1)}h${barWidth - 0.8}v${high.toFixed(1)}z`;
    })
    .join('');
  return (
    <svg
      class={large ? 'minutes large' : 'minutes'}
      viewBox={`0 0 ${minutes.length * barWidth} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${grouped(all)} ${of} in the last hour, at most ${grouped(most)} in a minute`}
    >
      <title>{`${grouped(all)} ${of} in the last hour, at most ${grouped(most)} in a minute`}</title>
      <path d={path} />
    </svg>
  );
}

/** Count of the last whole minute; the present one is incomplete. */
export function perMinute(minutes: readonly number[]): number {
  return minutes.at(-2) ?? 0;
}
