import type { JsonObject } from '../json.js';
import { draw } from './random.js';

export interface PigeonholeFacts {
  id: number;
  name: string;
  description: string;
  startDate: string;
  endDate: string;
  status: string;
  timezone: string;
  attendeeProfiles: boolean;
  registrants: boolean;
  attendeeCodeRequired: boolean;
}

const PASSCODE_LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/** A pigeonhole as the API shows it, without `expectedParticipants`, which only the single read adds. */
export function pigeonholeItem(facts: PigeonholeFacts, seed: number): JsonObject {
  const secret = draw(seed, 0x21, facts.id).toString(36);
  let passcode = '';
  for (let place = 0; place < 6; place += 1)
    passcode += PASSCODE_LETTERS[draw(seed, 0x22 + place, facts.id) % 32] ?? '';
  return {
    id: facts.id,
    name: facts.name,
    description: facts.description,
    passcode,
    startDate: facts.startDate,
    endDate: facts.endDate,
    status: facts.status,
    timezone: facts.timezone,
    attendeeProfiles: facts.attendeeProfiles,
    registrants: facts.registrants,
    attendeeCodeRequired: facts.attendeeCodeRequired,
    links: {
      admin: `https://admin.example.com/${facts.id}/${secret}`,
      audience: `https://audience.example.com/${passcode}`,
      projector: `https://projector.example.com/${facts.id}/${secret}`,
    },
  };
}

/** The text the service puts where a create request sent no description. */
export const DEFAULT_DESCRIPTION = 'Welcome! Ask questions and vote on the ones you want answered.';
