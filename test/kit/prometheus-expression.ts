import { groupBy } from '../../base/grouping.js';

/**
 * Evaluates the part of PromQL that deploy/alerts.yml uses. Anything else throws, so that a rule with a new function
 * fails its test instead of being skipped. Source: prometheus.io, "Querying Prometheus".
 */
export type Labels = Readonly<Record<string, string>>;

export interface Series {
  readonly labels: Labels;
  readonly value: number;
}

/** All series of one scrape. */
export interface Scrape {
  readonly atMs: number;
  readonly series: readonly Series[];
}

type Value = number | readonly Series[];
type Evaluate = (scrapes: readonly Scrape[]) => Value;

/** Parses an expression. @returns the series that it selects from scrapes, of which the last is the present */
export function parseExpression(text: string): (scrapes: readonly Scrape[]) => readonly Series[] {
  const parser = new Parser(tokensOf(text));
  const evaluate = parser.or();
  parser.end();
  return (scrapes) => vector(evaluate(scrapes));
}

/** Parses Prometheus' text format. */
export function parseScrape(text: string, atMs: number): Scrape {
  const series = text.split('\n').flatMap((line): Series[] => {
    const [, name, pairs = '', value] = /^([a-zA-Z_:]\w*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const labels = [...pairs.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, given]) => [key!, given!]);
    return [
      { labels: { __name__: name, ...Object.fromEntries(labels) }, value: Number(value!.replace('Inf', 'Infinity')) },
    ];
  });
  return { atMs, series };
}

function tokensOf(text: string): string[] {
  const pattern =
    /\s+|"(?:[^"\\]|\\.)*"|\[[^\]]*\]|=~|!~|!=|==|>=|<=|[=<>(){},+*/-]|\d+(?:\.\d+)?(?![a-z])|[a-zA-Z_:][\w:]*/gy;
  const tokens = text.match(pattern) ?? [];
  if (tokens.join('') !== text) throw new Error(`not understood: ${text.slice(tokens.join('').length)}`);
  return tokens.filter((token) => token.trim() !== '');
}

class Parser {
  #at = 0;

  constructor(private readonly tokens: readonly string[]) {}

  end(): void {
    if (this.#at < this.tokens.length) throw new Error(`not understood: ${this.tokens.slice(this.#at).join(' ')}`);
  }

  or(): Evaluate {
    let left = this.and();
    while (this.#takes('or')) {
      const [one, other] = [left, this.and()];
      left = (scrapes) => {
        const found = vector(one(scrapes));
        return [...found, ...vector(other(scrapes)).filter((each) => !found.some((own) => isSame(own, each, null)))];
      };
    }
    return left;
  }

  and(): Evaluate {
    let left = this.#comparison();
    for (;;) {
      const keepsMatched = this.#takes('and');
      if (!keepsMatched && !this.#takes('unless')) return left;
      const on = this.#takes('on') ? this.#names() : null;
      const [one, other] = [left, this.#comparison()];
      left = (scrapes) => {
        const others = vector(other(scrapes));
        return vector(one(scrapes)).filter((own) => others.some((each) => isSame(own, each, on)) === keepsMatched);
      };
    }
  }

  #comparison(): Evaluate {
    const left = this.#quotient();
    const operator = this.tokens[this.#at];
    const compare = comparisons[operator ?? ''];
    if (compare === undefined) return left;
    this.#at += 1;
    const right = this.#quotient();
    return (scrapes) => {
      const bound = right(scrapes);
      if (typeof bound !== 'number') throw new Error('only comparisons with a number are understood');
      return vector(left(scrapes)).filter(({ value }) => compare(value, bound));
    };
  }

  #quotient(): Evaluate {
    const left = this.#operand();
    if (!this.#takes('/')) return left;
    const right = this.#operand();
    return (scrapes) => {
      const divisors = vector(right(scrapes));
      return vector(left(scrapes)).flatMap(({ labels, value }) => {
        const divisor = divisors.find((each) => isSame({ labels, value }, each, null));
        return divisor === undefined ? [] : [{ labels: unnamed(labels), value: value / divisor.value }];
      });
    };
  }

  #operand(): Evaluate {
    const token = this.#next();
    if (/^\d/.test(token)) return () => Number(token);
    if (token === '(') return this.#closed(this.or());
    const aggregate = aggregates[token];
    if (aggregate !== undefined) {
      const by = this.#takes('by') ? this.#names() : [];
      this.#expect('(');
      const inner = this.#closed(this.or());
      return (scrapes) => grouped(vector(inner(scrapes)), by, aggregate);
    }
    if (this.tokens[this.#at] === '(') return this.#function(token);
    return this.#selector(token);
  }

  #function(name: string): Evaluate {
    this.#expect('(');
    switch (name) {
      case 'absent': {
        const inner = this.#closed(this.or());
        return (scrapes) => (vector(inner(scrapes)).length > 0 ? [] : [{ labels: {}, value: 1 }]);
      }
      case 'rate':
        return this.#closed(this.#selector(this.#next(), ratesOf));
      case 'max_over_time':
        return this.#closed(this.#selector(this.#next(), extremesOf(Math.max)));
      case 'min_over_time':
        return this.#closed(this.#selector(this.#next(), extremesOf(Math.min)));
      case 'histogram_quantile': {
        const quantile = Number(this.#next());
        this.#expect(',');
        const inner = this.#closed(this.or());
        return (scrapes) => quantileOf(vector(inner(scrapes)), quantile);
      }
      default:
        throw new Error(`function ${name} is not understood`);
    }
  }

  /** @param overRange computes a value from the samples of a range; undefined: the present value */
  #selector(name: string, overRange?: OverRange): Evaluate {
    const matchers: ((labels: Labels) => boolean)[] = [({ __name__ }) => __name__ === name];
    if (this.#takes('{')) {
      while (!this.#takes('}')) {
        const [label, operator, quoted] = [this.#next(), this.#next(), this.#next()];
        matchers.push(matcherOf(label, operator, quoted.slice(1, -1)));
        this.#takes(',');
      }
    }
    const matches = ({ labels }: Series): boolean => matchers.every((each) => each(labels));
    if (overRange === undefined) return (scrapes) => scrapes.at(-1)!.series.filter(matches);
    const rangeMs = durationMs(this.#next().slice(1, -1));
    return (scrapes) => overRange(scrapes, rangeMs, matches);
  }

  #closed(inner: Evaluate): Evaluate {
    this.#expect(')');
    return inner;
  }

  #names(): string[] {
    this.#expect('(');
    const names: string[] = [];
    while (!this.#takes(')')) {
      names.push(this.#next());
      this.#takes(',');
    }
    return names;
  }

  #takes(token: string): boolean {
    if (this.tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #expect(token: string): void {
    if (!this.#takes(token)) throw new Error(`"${token}" expected before: ${this.tokens.slice(this.#at).join(' ')}`);
  }

  #next(): string {
    this.#at += 1;
    return this.tokens[this.#at - 1] ?? '';
  }
}

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '==': (a, b) => a === b,
  '!=': (a, b) => a !== b,
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
};

const aggregates: Readonly<Record<string, (values: readonly number[]) => number>> = {
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
  sum: (values) => values.reduce((sum, value) => sum + value, 0),
};

function matcherOf(label: string, operator: string, wanted: string): (labels: Labels) => boolean {
  const pattern = new RegExp(`^(?:${wanted})$`);
  switch (operator) {
    case '=':
      return (labels) => (labels[label] ?? '') === wanted;
    case '!=':
      return (labels) => (labels[label] ?? '') !== wanted;
    case '=~':
      return (labels) => pattern.test(labels[label] ?? '');
    case '!~':
      return (labels) => !pattern.test(labels[label] ?? '');
    default:
      throw new Error(`matcher ${operator} is not understood`);
  }
}

function vector(value: Value): readonly Series[] {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

function unnamed({ __name__: _, ...labels }: Labels): Labels {
  return labels;
}

/** @param on the labels to compare; null: all except the name */
function isSame(a: Series, b: Series, on: readonly string[] | null): boolean {
  return keyOf(a.labels, on) === keyOf(b.labels, on);
}

function keyOf(labels: Labels, on: readonly string[] | null): string {
  const names = on ?? Object.keys(unnamed(labels));
  return JSON.stringify(names.toSorted().map((name) => [name, labels[name] ?? '']));
}

function grouped(
  series: readonly Series[],
  by: readonly string[],
  aggregate: (values: readonly number[]) => number,
): Series[] {
  const groups = groupBy(series, ({ labels }) => keyOf(labels, by));
  return [...groups.values()].map((own) => ({
    labels: Object.fromEntries(
      by.flatMap((name) => (own[0]!.labels[name] === undefined ? [] : [[name, own[0]!.labels[name]]])),
    ),
    value: aggregate(own.map(({ value }) => value)),
  }));
}

type OverRange = (
  scrapes: readonly Scrape[],
  rangeMs: number,
  matches: (series: Series) => boolean,
) => readonly Series[];

/** Returns an extreme of each series within the range, also of a series that has ended. */
function extremesOf(extreme: (...values: number[]) => number): OverRange {
  return (scrapes, rangeMs, matches) => {
    const from = scrapes.at(-1)!.atMs - rangeMs;
    const within = scrapes.flatMap(({ atMs, series }) => (atMs >= from ? series.filter(matches) : []));
    const groups = groupBy(within, ({ labels }) => keyOf(labels, null));
    return [...groups.values()].map((own) => ({
      labels: unnamed(own[0]!.labels),
      value: extreme(...own.map(({ value }) => value)),
    }));
  };
}

/** Calculates rates like Prometheus, but without extrapolation to the ends of the range. */
function ratesOf(scrapes: readonly Scrape[], rangeMs: number, matches: (series: Series) => boolean): Series[] {
  const now = scrapes.at(-1)!;
  const within = scrapes.filter(({ atMs }) => atMs > now.atMs - rangeMs);
  return now.series.filter(matches).flatMap((last) => {
    const samples = within.flatMap(({ atMs, series }) => {
      const own = series.find(
        ({ labels }) =>
          keyOf(labels, null) === keyOf(last.labels, null) && labels['__name__'] === last.labels['__name__'],
      );
      return own === undefined ? [] : [{ atMs, value: own.value }];
    });
    if (samples.length < 2) return [];
    const increase = samples.slice(1).reduce((sum, { value }, at) => {
      const before = samples[at]!.value;
      return sum + (value < before ? value : value - before); // a decreasing counter was reset
    }, 0);
    const seconds = (samples.at(-1)!.atMs - samples[0]!.atMs) / 1000;
    return [{ labels: unnamed(last.labels), value: increase / seconds }];
  });
}

function quantileOf(buckets: readonly Series[], quantile: number): Series[] {
  const groups = groupBy(buckets, ({ labels: { le: _, ...labels } }) => keyOf(labels, null));
  return [...groups.values()].flatMap((own) => {
    const sorted = own
      .map(({ labels, value }) => ({ le: Number((labels['le'] ?? '').replace('+Inf', 'Infinity')), value }))
      .toSorted((a, b) => a.le - b.le);
    const total = sorted.at(-1)?.value ?? 0;
    if (total === 0) return []; // NaN in Prometheus, which no comparison selects
    const rank = quantile * total;
    const at = sorted.findIndex(({ value }) => value >= rank);
    const [below, bucket] = [sorted[at - 1] ?? { le: 0, value: 0 }, sorted[at]!];
    const { le: _, ...labels } = unnamed(own[0]!.labels) as Record<string, string>;
    const value =
      bucket.le === Infinity
        ? below.le
        : below.le + (bucket.le - below.le) * ((rank - below.value) / (bucket.value - below.value));
    return [{ labels, value }];
  });
}

/** @param text such as `10m` */
export function durationMs(text: string): number {
  const [, number, unit] = /^(\d+)([smh])$/.exec(text) ?? [];
  if (number === undefined) throw new Error(`duration ${text} is not understood`);
  return Number(number) * { s: 1000, m: 60_000, h: 3_600_000 }[unit as 's' | 'm' | 'h'];
}
