/** One metric with its values at this moment. */
export interface Figure {
  readonly name: string;
  /** One sentence. */
  readonly help: string;
  readonly type: 'gauge' | 'counter';
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** In Prometheus' text format, version 0.0.4. Pure. Source: prometheus.io, "Exposition formats". */
export function formatFigures(figures: readonly Figure[]): string {
  return figures
    .map(({ name, help, type, samples }) =>
      [
        `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(({ labels, value }) => `${name}${formatLabels(labels)} ${formatValue(value)}`),
      ].join('\n'),
    )
    .map((text) => `${text}\n`)
    .join('');
}

function formatLabels(labels: Sample['labels']): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function formatValue(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}
