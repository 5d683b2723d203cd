import type { Preset } from './preset.js';
import { teams } from './teams.js';

/** Every preset, by the name that `preset` gives it. A new one is a file and a line here. */
export const allPresets: ReadonlyMap<string, Preset> = new Map([teams].map((preset: Preset) => [preset.name, preset]));
