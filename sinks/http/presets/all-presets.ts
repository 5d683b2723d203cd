import { airtable } from './airtable.js';
import { bigquery } from './bigquery.js';
import { dynamics } from './dynamics.js';
import { marketo } from './marketo.js';
import { moodle } from './moodle.js';
import { pipedrive } from './pipedrive.js';
import type { Preset } from '../keys.js';
import { segment } from './segment.js';
import { teams } from './teams.js';

/** All presets, by the name that the key `preset` uses. A new preset needs a file and a line here. */
export const allPresets: ReadonlyMap<string, Preset> = new Map(
  [airtable, bigquery, dynamics, marketo, moodle, pipedrive, segment, teams].map((preset: Preset) => [
    preset.name,
    preset,
  ]),
);
