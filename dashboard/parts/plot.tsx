import { useState } from 'preact/hooks';
import type { Activity } from '../../operations/activity.js';
import { scaleTop } from '../chart-scale.js';

export interface Series {
  readonly label: string;
  readonly values: readonly number[];
  /** Class that sets its colour. */
  readonly colour: 'accent' | 'good' | 'warning' | 'bad';
}

interface PlotProps {
  readonly activity: Activity;
  readonly title: string;
  readonly series: readonly Series[];
  readonly words: (value: number) => string;
  /** An instant in the zones that the chart shows: Unix time in ms. */
  readonly timeWords: (atMs: number) => readonly string[];
}

const width = 1000;
const height = 120;

/** One chart over time, with axes, marks, and the values of the step below the pointer. */
export function Plot({ activity, title, series, words, timeWords }: PlotProps) {
  const [pointed, setPointed] = useState<number | null>(null);
  const { from, stepSeconds, marks, found } = activity;
  const steps = found.length;
  const startMs = Date.parse(from);
  const top = scaleTop(series.flatMap(({ values }) => values));
  const xOf = (step: number): number => (step / steps) * width;
  const timeX = (at: string): number =>
    Math.min(width, Math.max(0, xOf((Date.parse(at) - startMs) / (stepSeconds * 1000))));
  const yOf = (value: number): number => height - (Math.min(value, top) / top) * height;
  const most = series.map(({ label, values }) => `${label} at most ${words(Math.max(...values, 0))}`).join(', ');
  const timesAt = [0, 0.25, 0.5, 0.75, 1].map((part) => startMs + part * steps * stepSeconds * 1000);
  return (
    <figure class="plot">
      <figcaption>
        <b>{title}</b>
        {series.map(({ label, colour, values }) => (
          <span key={label} class={`key ${colour}`}>
            {label}
            {pointed === null ? '' : ` ${words(values[pointed]!)}`}
          </span>
        ))}
        {pointed === null ? null : <span>{timeWords(startMs + pointed * stepSeconds * 1000).join(' · ')}</span>}
      </figcaption>
      <div class="drawn">
        <div class="scale" aria-hidden="true">
          <span>{words(Math.ceil(top))}</span>
          <span>{words(Math.ceil(top / 2))}</span>
          <span>{words(0)}</span>
        </div>
        <svg
          viewBox={`0 0 ${width} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}: ${most}. The steps below have the values.`}
          onPointerMove={(event) => {
            const { left, width: wide } = event.currentTarget.getBoundingClientRect();
            setPointed(Math.min(steps - 1, Math.max(0, Math.floor(((event.clientX - left) / wide) * steps))));
          }}
          onPointerLeave={() => setPointed(null)}
        >
          <path class="grid" d={`M0 0H${width}M0 ${height / 2}H${width}M0 ${height}H${width}`} />
          {marks.map(({ kind, at, until }) => {
            const x = timeX(at);
            const end = until === null ? width : timeX(until);
            return kind === 'incident' ? (
              <rect key={`${kind} ${at}`} class={kind} x={x} y={0} width={Math.max(2, end - x)} height={height} />
            ) : (
              <path key={`${kind} ${at}`} class={kind} d={`M${x} 0V${height}`} />
            );
          })}
          {series.map(({ label, colour, values }) => (
            <path key={label} class={colour} d={`M0 ${yOf(values[0] ?? 0)}${stepped(values, xOf, yOf)}`} />
          ))}
          {series.map(({ label, colour, values }) => (
            <path key={label} class={`${colour} cut`} d={cutOff(values, top, xOf)} />
          ))}
          {pointed === null ? null : <path class="pointed" d={`M${xOf(pointed + 0.5)} 0V${height}`} />}
        </svg>
        <div class="times" aria-hidden="true">
          {timesAt.map((at) => (
            <span key={at}>
              {timeWords(at).map((each) => (
                <span key={each}>{each}</span>
              ))}
            </span>
          ))}
        </div>
      </div>
    </figure>
  );
}

function stepped(values: readonly number[], xOf: (step: number) => number, yOf: (value: number) => number): string {
  return values.map((value, step) => `V${yOf(value).toFixed(1)}H${xOf(step + 1).toFixed(1)}`).join('');
}

/** Returns a triangle at the top of each step whose value is above the scale. */
function cutOff(values: readonly number[], top: number, xOf: (step: number) => number): string {
  return values
    .flatMap((value, step) => {
      const x = xOf(step + 0.5);
      return value > top ? [`M${x - 6} 12L${x} 0L${x + 6} 12Z`] : [];
    })
    .join('');
}
