import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSinks } from '../../sinks/all-sinks.js';
import { allPresets } from '../../sinks/http/config.js';

const root = join(__dirname, '../..');
const page = readFileSync(join(root, 'docs/sinks/vendor-calendar.md'), 'utf8');

interface Row {
  readonly date: string;
  readonly vendor: string;
  readonly ends: string;
  readonly uses: string;
  readonly state: string;
  readonly source: string;
}

const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| 2'))
  .map((line): Row => {
    const [date, vendor, ends, uses, state, source] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { date: date!, vendor: vendor!, ends: ends!, uses: uses!, state: state!, source: source! };
  });

/** The rows of the second table: dependencies of each sink and preset. */
const dependencies = page
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => {
    const [name, vendor, , end] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    return { name: name!.replaceAll('`', ''), vendor: vendor!, end: end! };
  });

const dayMs = 86_400_000;
const warnedMs = 90 * dayMs;

/** Returns what is open and ends within 90 days, or has ended, as sentences. */
function due(calendar: readonly Row[], today: Date): string[] {
  return calendar
    .filter(({ state, date }) => state === 'open' && Date.parse(date) - today.getTime() <= warnedMs)
    .map(({ date, vendor, ends, uses }) => `${date} ${vendor}: ${ends}. pigeonpost uses: ${uses}`);
}

describe('docs/sinks/vendor-calendar.md', () => {
  it('has no open row that ends within 90 days', () => {
    expect(due(rows, new Date())).toEqual([]);
  });

  it('has a date, a vendor, what ends, what pigeonpost uses, a state and a source in each row', () => {
    for (const row of rows) {
      expect(row.date).toBe(new Date(row.date).toISOString().slice(0, 10));
      expect(['open', 'done']).toContain(row.state);
      expect(row.source).toMatch(/^\[.+\]\(https:\/\/.+\)$/);
      expect([row.vendor, row.ends, row.uses]).not.toContain('');
    }
  });

  it('has one row for each sink and each preset, and no others', () => {
    const expected = [...allSinks.keys(), ...allPresets.keys()].toSorted();
    expect(dependencies.map(({ name }) => name).toSorted()).toEqual(expected);
  });

  it('states for each sink and preset whether an end is announced, and lists its date', () => {
    for (const { name, vendor, end } of dependencies) {
      expect([name, end]).toEqual([name, expect.stringMatching(/^(Above|–|None(:? .+)?)$/)]);
      if (end === 'Above') expect(rows.map((row) => row.vendor)).toContain(vendor);
    }
  });

  it('lists the runtime and the orchestration', () => {
    expect(rows.map(({ vendor }) => vendor)).toContain('Node.js');
    expect(page).toContain('Temporal server');
  });

  it('has open rows for the runtime of the package and the image', () => {
    const dockerfile = readFileSync(join(root, 'Dockerfile'), 'utf8');
    const node = /node:(\d+)/.exec(dockerfile)![1]!;
    expect(rows.filter(({ state, ends }) => state === 'open' && ends === `Node ${node}`)).toHaveLength(1);
    const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8');
    const postgres = /image: postgres:(\d+)/.exec(compose)![1]!;
    expect(rows.filter(({ state, ends }) => state === 'open' && ends === `PostgreSQL ${postgres}`)).toHaveLength(1);
  });

  it('would fail 90 days before the date of each of its open rows', () => {
    const open = rows.filter(({ state }) => state === 'open');
    expect(open).not.toEqual([]);
    for (const row of open) {
      const warnedAtMs = Date.parse(row.date) - warnedMs;
      expect([row.date, due([row], new Date(warnedAtMs)).length]).toEqual([row.date, 1]);
      expect([row.date, due([row], new Date(warnedAtMs - 1)).length]).toEqual([row.date, 0]);
    }
  });

  it('fails 90 days before the date of an open row, and not earlier', () => {
    const row = { date: '2027-03-30', vendor: 'V', ends: 'v4', uses: 'v4', state: 'open', source: '' };
    expect(due([row], new Date('2026-12-29T00:00:00Z'))).toEqual([]);
    expect(due([row], new Date('2026-12-30T00:00:00Z'))).toEqual(['2027-03-30 V: v4. pigeonpost uses: v4']);
    expect(due([row], new Date('2028-01-01T00:00:00Z'))).toHaveLength(1);
    expect(due([{ ...row, state: 'done' }], new Date('2028-01-01T00:00:00Z'))).toEqual([]);
  });
});
