import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { durationMs, parseExpression, parseScrape, type Scrape, type Series } from './prometheus-expression.js';

interface Rule {
  readonly alert: string;
  readonly forMs: number;
  readonly evaluate: (scrapes: readonly Scrape[]) => readonly Series[];
}

/** The longest range of a rule. */
const keptMs = 20 * 60_000;

/** Evaluates the shipped rules on scrapes and returns firing alerts, like a Prometheus server. */
export class PrometheusRules {
  readonly #rules: readonly Rule[];
  readonly #scrapes: Scrape[] = [];
  /** Instants since which a rule has selected a series, by rule and labels. */
  #pending = new Map<string, number>();
  /** The series ALERTS of the last evaluation, which the next one reads. */
  #alerts: Series[] = [];

  constructor(file = join(__dirname, '../../deploy/alerts.yml')) {
    const { groups } = parse(readFileSync(file, 'utf8')) as {
      readonly groups: readonly { readonly rules: readonly { alert: string; expr: string; for: string }[] }[];
    };
    this.#rules = groups
      .flatMap(({ rules }) => rules)
      .map(({ alert, expr, for: held }) => ({ alert, forMs: durationMs(held), evaluate: parseExpression(expr) }));
  }

  get names(): string[] {
    return this.#rules.map(({ alert }) => alert);
  }

  /** Adds one scrape. @param text null if the scrape failed @returns the firing alerts, each once */
  scrape(text: string | null, atMs: number): string[] {
    const up = { labels: { __name__: 'up', job: 'pigeonpost', instance: 'one' }, value: text === null ? 0 : 1 };
    const { series } = parseScrape(text ?? '', atMs);
    const own = series.map((each) => ({ ...each, labels: { job: 'pigeonpost', instance: 'one', ...each.labels } }));
    this.#scrapes.push({ atMs, series: [up, ...own, ...this.#alerts] });
    this.#alerts = [];
    while (this.#scrapes[0]!.atMs < atMs - keptMs) this.#scrapes.shift();
    const pending = new Map<string, number>();
    const firing = new Set<string>();
    for (const { alert, forMs, evaluate } of this.#rules) {
      for (const { labels } of evaluate(this.#scrapes)) {
        const key = `${alert} ${JSON.stringify(labels)}`;
        const since = this.#pending.get(key) ?? atMs;
        pending.set(key, since);
        if (atMs - since < forMs) continue;
        firing.add(alert);
        const told = { ...labels, __name__: 'ALERTS', alertname: alert, alertstate: 'firing' };
        this.#alerts.push({ labels: told, value: 1 });
      }
    }
    this.#pending = pending;
    return [...firing].toSorted();
  }
}
