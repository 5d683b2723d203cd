import type { Change } from '../change.js';
import type { Fields, Subject } from '../sink.js';
import { type Activity, type ActivityDefinition, type LanguageMap, activityTypes } from './statement.js';

/**
 * Creates the activities that are the objects of statements. Their ids are addresses below the configured `activities`.
 * They contain only the service's ids, so that a renamed event stays the same activity.
 */
export class Activities {
  readonly #base: string;

  constructor(base: string) {
    this.#base = base.replace(/\/+$/, '');
  }

  pigeonhole({ change, pigeonhole }: Subject): Activity {
    return activity(this.#pigeonholeId(change), { type: activityTypes.meeting, ...named(textOf(pigeonhole, 'name')) });
  }

  /** Returns the session as an activity; undefined if the item has no session. */
  session({ change, session }: Subject): Activity | undefined {
    if (change.sessionId === null) return undefined;
    const definition = { type: activityTypes.meeting, ...named(textOf(session, 'name')) };
    return activity(this.#sessionId(change), definition);
  }

  /**
   * Returns a question of an attendee or of a poll as an activity. The question's id is unique within the pigeonhole.
   */
  question(change: Change, id: number, definition: ActivityDefinition): Activity {
    return activity(`${this.#pigeonholeId(change)}/questions/${id}`, definition);
  }

  /** Returns the question of a word cloud as an activity. A word cloud has one question, the session itself. */
  wordCloud({ change, session }: Subject): Activity {
    return activity(`${this.#sessionId(change)}/word-cloud`, {
      type: activityTypes.interaction,
      interactionType: 'long-fill-in',
      ...named(textOf(session, 'name')),
    });
  }

  /** Returns the answer that a question received on stage as an activity. Attendees rate it. */
  answerTo(change: Change, questionId: number): Activity {
    return activity(`${this.#pigeonholeId(change)}/questions/${questionId}/answer`, {
      type: activityTypes.interaction,
      interactionType: 'numeric',
    });
  }

  /**
   * Returns the activity of a credit.
   * @param name an address, which is used unchanged, or a name, which is appended to the base address
   */
  credited(name: string): Activity {
    const id = isAddress(name) ? name : `${this.#base}/credits/${encodeURIComponent(name)}`;
    return activity(id, { type: activityTypes.course });
  }

  #pigeonholeId({ workspace, pigeonholeId }: Change): string {
    return `${this.#base}/workspaces/${encodeURIComponent(workspace)}/pigeonholes/${pigeonholeId}`;
  }

  #sessionId(change: Change): string {
    return `${this.#pigeonholeId(change)}/sessions/${change.sessionId ?? 0}`;
  }
}

/** Returns the language map of a text in an unknown language. */
export function inUnknownLanguage(text: string): LanguageMap {
  return { und: text };
}

function activity(id: string, definition: ActivityDefinition): Activity {
  return { objectType: 'Activity', id, definition };
}

function named(name: string | undefined): Pick<ActivityDefinition, 'name'> {
  return name === undefined ? {} : { name: inUnknownLanguage(name) };
}

function textOf(fields: Fields | null, member: string): string | undefined {
  const value = fields?.[member];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function isAddress(name: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\S+$/i.test(name) && URL.canParse(name);
}
