import { z } from 'zod';
import { exportFormats, hasSheet, type SheetName, sheetNames } from '../../base/sheets/sheet-names.js';
import { isTimezone } from '../../base/zoned-instant.js';
import { listOf, nonEmptyText, oneOf, text, wholeNumber } from '../values.js';

/** A time of day in a time zone. */
export interface DailyTime {
  /** Minutes since midnight. */
  readonly minutes: number;
  readonly timezone: string;
}

const dailyTime = () =>
  text('a time of day and a time zone, such as 02:30 Europe/Berlin', (found): DailyTime | undefined => {
    const [, hours, minutes, timezone = 'UTC'] = /^(\d\d):(\d\d)(?: (\S+))?$/.exec(found) ?? [];
    if (hours === undefined || hours > '23' || minutes! > '59' || !isTimezone(timezone)) return undefined;
    return { minutes: Number(hours) * 60 + Number(minutes), timezone };
  });

const tables = sheetNames.filter((name) => hasSheet({ pigeonholeId: 1 }, name)) as [SheetName, ...SheetName[]];

export const exportsSchema = z
  .array(
    z.strictObject({
      to: nonEmptyText('the name of a sink').describe(
        'A sink of type `file` or `s3`. The files are in the folder `_exports` below its folder or prefix, one for each pigeonhole that its syncs select and each night. Whose data they have follows from the consent settings of the sink.',
      ),
      at: dailyTime().prefault('02:00 UTC').describe('Time of day and time zone; UTC if it names none.'),
      format: oneOf(exportFormats)
        .prefault('xlsx')
        .describe('`xlsx`: one workbook with a sheet for each table. `csv`: a file for each table.'),
      tables: listOf(z.enum(tables), { allowed: `a list of ${tables.join(', ')}` })
        .optional()
        .describe('Tables of a pigeonhole; by default all of its lists.'),
      keep: z
        .union([wholeNumber({ min: 1, max: 10_000, unit: 'nights' }), z.literal('all')], {
          error: 'allowed: a number of nights, or all',
        })
        .prefault(14)
        .meta({ allowed: 'a number of nights, or `all`' })
        .describe('How many nights are kept for each pigeonhole. Older files are removed.'),
    }),
    { error: 'allowed: a list of exports' },
  )
  .optional()
  .describe('Nightly exports for spreadsheets. See docs/export.md.');
