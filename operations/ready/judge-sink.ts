import type { ReadyCheck } from '../../api/readiness.js';
import type { CheckLine } from '../../sinks/sink.js';

/** What a sink's own check has found: its destination, and that it would take what the mapping gives. Pure. */
export function judgeSink(name: string, type: string, lines: readonly CheckLine[]): ReadyCheck {
  const about = { id: `sink:${name}`, label: `Sink ${name} (${type})` };
  const wrong = lines.filter(({ ok }) => !ok);
  const says = (told: readonly CheckLine[]): string => told.map(({ text }) => text).join('; ');
  if (wrong.length === 0) return { ...about, state: 'ok', says: says(lines) };
  return {
    ...about,
    state: 'failed',
    says: says(wrong),
    todo: 'mend it there or in pigeonpost.yaml; "pigeonpost check" looks again',
  };
}
