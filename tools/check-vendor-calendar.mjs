#!/usr/bin/env node
// Prints which versions and credentials that pigeonpost uses end within 90 days, from docs/sinks/vendor-calendar.md. A
// check of its own and no test, because the same commit gives another result on another day.
//
//   node tools/check-vendor-calendar.mjs                      today; exit 1 only if something has ended
//   node tools/check-vendor-calendar.mjs --today 2027-03-30   as on another day
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const warnedDays = 90;
const dayMs = 86_400_000;

const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' }, today: { type: 'string' } } });
if (values.help) {
  console.log('usage: node tools/check-vendor-calendar.mjs [--today YYYY-MM-DD] [--help]');
  process.exit(0);
}
const today = Date.parse(values.today ?? new Date().toISOString().slice(0, 10));
if (Number.isNaN(today)) {
  console.error(`--today ${values.today} is not a date. Write it as 2027-03-30.`);
  process.exit(2);
}

const due = openRows().filter(({ days }) => days <= warnedDays);
for (const { date, vendor, ends, uses, days } of due) {
  const when = days > 0 ? `ends in ${days} ${days === 1 ? 'day' : 'days'}` : 'has ended';
  console.log(`${date} ${vendor}: ${ends} ${when}. pigeonpost uses: ${uses}`);
}
if (due.length === 0) console.log(`Nothing that pigeonpost uses ends within ${warnedDays} days.`);
process.exitCode = due.some(({ days }) => days <= 0) ? 1 : 0;

/** Returns the rows of the calendar that are not done, with the number of days until their date. */
function openRows() {
  return readFileSync(join(import.meta.dirname, '../docs/sinks/vendor-calendar.md'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| 2'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, , , , , state]) => state === 'open')
    .map(([, date, vendor, ends, uses]) => ({
      date,
      vendor,
      ends,
      uses,
      days: Math.ceil((Date.parse(date) - today) / dayMs),
    }));
}
