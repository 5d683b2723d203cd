import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const rules = join(__dirname, '../../deploy/alerts.yml');

/** Runs Prometheus' own tool. @returns its exit code, null if it is not installed, and what it printed */
export function promtool(...args: readonly string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

/** With CI=true, a missing promtool is a failure, so that the tests are not skipped unnoticed. */
export function hasPromtool(): boolean {
  if (promtool('--version').status === 0) return true;
  if (process.env['CI'] === 'true') throw new Error('promtool is not installed, and CI=true wants its tests run');
  process.stderr.write('promtool is not installed (Debian: prometheus): the tests of deploy/alerts.yml are left out\n');
  return false;
}

interface Expectation {
  readonly expr: string;
  readonly eval_time: string;
  readonly exp_samples: readonly { readonly labels: string; readonly value: number }[];
}

/**
 * One scrape of `/metrics` a minute, and what the shipped rules make of them. Prometheus evaluates the rules: the
 * scrapes and the expectations become a file for `promtool test rules`.
 */
export class PrometheusDay {
  /** The values of each series, by its name with its labels; undefined where a scrape did not show it. */
  readonly #series = new Map<string, (string | undefined)[]>();
  readonly #expectations: Expectation[] = [];
  #scrapes = 0;

  /** Number of scrapes until now. */
  get minute(): number {
    return this.#scrapes;
  }

  /** Adds the scrape of the next minute, in Prometheus' text format. */
  scrape(text: string): void {
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of ['up 1', ...lines]) {
      const [, name, labels, value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
      const key = `${name}{job="pigeonpost",instance="one"${labels === undefined ? '' : `,${labels}`}}`;
      const values = this.#series.get(key) ?? [];
      values[this.#scrapes] = value!;
      this.#series.set(key, values);
    }
    this.#scrapes += 1;
  }

  /** Expects that these alerts, and no others, fire at the last scrape. */
  expectFiring(...alerts: readonly string[]): void {
    this.#expect(`ALERTS{alertstate="firing"}`, alerts);
  }

  /**
   * Expects that these alerts have fired at any of the last scrapes, and no others.
   * @param among considers only these alerts; by default all
   */
  expectFired(minutes: number, alerts: readonly string[], among: readonly string[] = ['.+']): void {
    const range = `${minutes * 60 - 30}s`; // from half a minute before the first of them
    this.#expect(`count_over_time(ALERTS{alertstate="firing", alertname=~"${among.join('|')}"}[${range}])`, alerts);
  }

  #expect(selected: string, alerts: readonly string[]): void {
    this.#expectations.push({
      expr: `group by (alertname) (${selected})`,
      eval_time: `${this.#scrapes - 1}m`,
      exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
    });
  }

  /** Lets Prometheus evaluate the rules and compare every expectation. @throws with its report if one is not met */
  judge(): void {
    const series = [...this.#series].map(([key, values]) => ({ series: key, values: this.#written(values) }));
    const test = { interval: '1m', input_series: series, promql_expr_test: this.#expectations };
    const folder = mkdtempSync(join(tmpdir(), 'pigeonpost-promtool-'));
    try {
      const file = join(folder, 'day.json'); // JSON is YAML
      writeFileSync(file, JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests: [test] }));
      const { status, output } = promtool('test', 'rules', file);
      if (status !== 0) throw new Error(output);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  /** Writes values as promtool reads them. Prometheus marks a series as stale in the first scrape without it. */
  #written(values: readonly (string | undefined)[]): string {
    return Array.from({ length: this.#scrapes }, (_, at) => {
      const isEnd = at > 0 && values[at - 1] !== undefined;
      return values[at] ?? (isEnd ? 'stale' : '_');
    }).join(' ');
  }
}
