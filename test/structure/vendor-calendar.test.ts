import { spawnSync } from 'node:child_process';
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

/** Runs the check as on a given day. */
function checkOn(today: string): { status: number | null; lines: string[] } {
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(root, 'tools/check-vendor-calendar.mjs'), '--today', today],
    { encoding: 'utf8' },
  );
  return { status, lines: stdout.trimEnd().split('\n') };
}

const dayMs = 86_400_000;
const dayBefore = (date: string, days: number): string =>
  new Date(Date.parse(date) - days * dayMs).toISOString().slice(0, 10);

describe('docs/sinks/vendor-calendar.md', () => {
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
});

describe('the check of the vendor calendar', () => {
  const [first] = rows.filter(({ state }) => state === 'open').toSorted((a, b) => a.date.localeCompare(b.date));
  const { date, vendor, ends, uses } = first!;

  it('prints nothing earlier than 90 days before the date of an open row', () => {
    const { status, lines } = checkOn(dayBefore(date, 91));
    expect([status, lines]).toEqual([0, ['Nothing that pigeonpost uses ends within 90 days.']]);
  });

  it.each([
    [90, 'ends in 90 days'],
    [1, 'ends in 1 day'],
  ])('prints an open row %d days before its date, and does not fail', (days, when) => {
    const { status, lines } = checkOn(dayBefore(date, days));
    expect(status).toBe(0);
    expect(lines).toContain(`${date} ${vendor}: ${ends} ${when}. pigeonpost uses: ${uses}`);
  });

  it('fails once something has ended', () => {
    const { status, lines } = checkOn(date);
    expect(status).toBe(1);
    expect(lines).toContain(`${date} ${vendor}: ${ends} has ended. pigeonpost uses: ${uses}`);
  });

  it('never prints a row that is done', () => {
    const { lines } = checkOn('2999-01-01');
    expect(lines).toHaveLength(rows.filter(({ state }) => state === 'open').length);
  });
});
