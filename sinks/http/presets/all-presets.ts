import type { Preset } from './preset.js';
import { airtable } from './airtable.js';
import { moodle } from './moodle.js';
import { segment } from './segment.js';
import { teams } from './teams.js';

/** Every preset, by the name that `preset` gives it. A new one is a file and a line here. */
export const allPresets: ReadonlyMap<string, Preset> = new Map(
  [airtable, moodle, segment, teams].map((preset: Preset) => [preset.name, preset]),
);
