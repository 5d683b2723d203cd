import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { alertsSchema } from '../../config/schema/operations.js';
import { routeOf } from '../../dashboard/route.js';
import {
  alertCodes,
  alertingProblems,
  alertOf,
  messageTraits,
  pageOf,
  problemCodes,
  rulesBeyondProblems,
  traitsOf,
} from '../../operations/problems.js';

/*
 * The catalogue of problems (operations/problems.ts) against what names its entries elsewhere: the configuration, the
 * guide to operations, the page, the metrics and the rules for Prometheus.
 */

const root = join(__dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const problems = problemCodes.map((code) => ({ code, ...traitsOf(code) }));

/** Sections of the guide by the fragment of their address. The text includes those below. */
const sections = new Map<string, string>();
{
  const parts = read('docs/operations.md').split(/^(?=#+ )/m);
  parts.forEach((part, at) => {
    const [, marks, title] = /^(#+) (.*)/.exec(part)!;
    const next = parts.findIndex((other, place) => place > at && /^#+/.exec(other)![0].length <= marks!.length);
    const fragment = title!
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');
    if (!sections.has(fragment)) sections.set(fragment, parts.slice(at, next === -1 ? undefined : next).join(''));
  });
}

/** Parts of a sink's page that an address can name. */
const partsOfSinkPage = ['pages/sink.tsx', 'parts/dead-letters.tsx', 'parts/preview.tsx', 'parts/parity.tsx'].flatMap(
  (file) => [...read(`dashboard/${file}`).matchAll(/\bid="([\w-]+)"/g)].map(([, id]) => id),
);

describe('the catalogue of problems', () => {
  it('has one problem or event for each key of alerts.when', () => {
    const occasions = alertCodes.map((code) => messageTraits(code).occasion);
    const keys = Object.keys(alertsSchema.unwrap().shape.when.unwrap().shape);
    expect(occasions.toSorted()).toEqual(keys.toSorted());
  });

  it.each(problems)('names the section of the guide that explains $code', ({ code, runbook }) => {
    expect([...sections.keys()]).toContain(runbook);
    const isNamed = runbook === code || sections.get(runbook)!.includes(`\`${code}\``);
    expect({ code, runbook, isNamed }).toEqual({ code, runbook, isNamed: true });
  });

  it('has the section of each alert under the key that the configuration has', () => {
    const missing = alertCodes.map((code) => messageTraits(code).occasion).filter((key) => !sections.has(key));
    expect(missing).toEqual([]);
    for (const code of alertingProblems) {
      expect([code, traitsOf(code).runbook]).toEqual([code, alertOf(code).occasion]);
    }
  });

  it('says in the section of each alert whether it is on by default', () => {
    const byDefault = alertsSchema.unwrap().shape.when.parse(undefined);
    const said = alertCodes
      .map((code) => messageTraits(code).occasion)
      .filter((key) => /\bOn by\s+default\./.test(sections.get(key)!));
    expect(said.toSorted()).toEqual(Object.keys(byDefault).toSorted());
  });

  it.each(problems)('leads from $code to a page that exists', ({ kind, page }) => {
    const name = { process: '', workspace: 'acme', pigeonhole: 'acme/101', sink: 'hooks' }[kind];
    const address = pageOf(page, kind, name);
    expect(address === null).toBe(kind === 'process');
    if (address !== null) expect(routeOf(`#${address}`).page).not.toBe('unknown');
    if (kind === 'sink' && page !== 'subject') expect(partsOfSinkPage).toContain(page);
  });
});

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly description: string; readonly runbook: string };
}

describe('the rules for Prometheus', () => {
  const { groups } = parse(read('deploy/alerts.yml')) as { groups: { rules: Rule[] }[] };
  const rules = groups.flatMap((group) => group.rules);

  const known = new Map<string, string>([
    ...problems.flatMap(({ rule, runbook }) => (rule === null ? [] : [[rule, runbook] as const])),
    ...Object.entries(rulesBeyondProblems),
  ]);

  it('are those of the catalogue, with its sections of the guide', () => {
    const shipped = rules.map(({ alert, annotations }) => [alert, annotations.runbook] as const);
    expect(shipped).toHaveLength(known.size);
    const expected = [...known].map(([rule, runbook]) => [rule, `docs/operations.md#${runbook}`] as const);
    expect(new Map(shipped)).toEqual(new Map(expected));
    expect([...known.values()].filter((runbook) => !sections.has(runbook))).toEqual([]);
  });

  it.each(problems.filter(({ rule }) => rule !== null))(
    'judge $code by its metric',
    ({ rule, metric, stops, alert }) => {
      const { expr, labels, annotations } = rules.find((each) => each.alert === rule)!;
      expect(expr).toContain(metric);
      // A rule calls for immediate help if nothing of its subject is read or delivered.
      expect(labels.severity).toBe(stops ? 'critical' : 'warning');
      const [, occasion] = /alert `([^`]+)`/.exec(annotations.description) ?? [];
      expect([undefined, alert?.occasion]).toContain(occasion);
    },
  );
});
