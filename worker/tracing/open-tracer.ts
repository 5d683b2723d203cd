import type { Log } from '../../work/collaborators.js';
import { noTracer, type Tracer } from '../../base/tracer.js';
import type { Config } from '../../config/config.js';
import { networkSettings } from '../../work/open-sinks.js';
import { packageVersion } from '../../base/package-root.js';
import { OtlpTracer } from './otlp-tracer.js';
import { SpanExporter } from './span-exporter.js';

/** Traces to the configured collector; where there is none, none are made. @param closers is given what ends them */
export function openTracer(
  config: Config,
  { owner, log }: { readonly owner: string; readonly log: Log },
  closers: (() => Promise<void>)[],
): Tracer {
  const { otlpUrl: url } = config;
  if (url === undefined) return noTracer;
  const exporter = new SpanExporter({ url, network: networkSettings(config), version: packageVersion(), owner, log });
  closers.push(() => exporter.close());
  return new OtlpTracer((span) => exporter.add(span));
}
