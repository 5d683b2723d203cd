import { instantMs } from '../../base/instant.js';
import { type Fields, fieldsOf, type Subject } from '../sink.js';
import {
  type Activities,
  inUnknownLanguage,
  type Activity,
  type ActivityDefinition,
  type Result,
  wellFormed,
  activityTypes,
} from './statement.js';
import type { StatementKind } from './config.js';
import type { XapiReason } from './reasons.js';

export interface Interaction {
  readonly object: Activity;
  readonly result?: Result;
}

/**
 * Returns the object and result of an item's statement. Pure.
 *
 * | kind | object | result |
 * |---|---|---|
 * | attended | the pigeonhole | |
 * | asked | the question | its text as response |
 * | answered | the poll's question, an interaction of the type choice | the option's id as response, the time taken |
 * | responded | the session's word cloud, long-fill-in | the text as response |
 * | voted | the question | |
 * | rated | the answer to the question, numeric | the rate as response and raw score |
 *
 * Responses have the format that xAPI 1.0.3, appendix C, requires for each interaction type. There is no pattern of
 * correct responses, because the service does not report which responses are correct.
 * @returns a reason if a required field is missing
 */
export function interactionOf(kind: StatementKind, subject: Subject, activities: Activities): Interaction | XapiReason {
  const { change } = subject;
  const item = change.data ?? {};
  const question = fieldsOf(item['question']);
  const questionId = integerAt(question, 'id');
  switch (kind) {
    case 'attended':
      return isInstant(item['signInTime']) ? { object: activities.pigeonhole(subject) } : 'not-signed-in';
    case 'asked': {
      const id = integerAt(item, 'id');
      if (id === undefined) return 'no-question';
      const content = textAt(item, 'content');
      return {
        object: activities.question(change, id, questionNamed(content)),
        ...(content !== undefined && { result: { response: content } }),
      };
    }
    case 'answered':
      return questionId === undefined ? 'no-question' : answered(subject, questionId, question, activities);
    case 'responded': {
      const response = textAt(fieldsOf(item['answer']), 'content');
      if (change.sessionId === null) return 'no-session';
      return response === undefined ? 'no-answer' : { object: activities.wordCloud(subject), result: { response } };
    }
    case 'voted':
      if (questionId === undefined) return 'no-question';
      return { object: activities.question(change, questionId, questionNamed(textAt(question, 'content'))) };
    case 'rated': {
      const rate = integerAt(fieldsOf(item['answerRating']), 'rate');
      if (questionId === undefined) return 'no-question';
      if (rate === undefined) return 'no-rate';
      const result = { response: String(rate), score: { raw: rate } };
      return { object: activities.answerTo(change, questionId), result };
    }
  }
}

/**
 * Returns the time of an item's statement: its creation or sign-in, or else the time of the change. @returns ISO 8601
 * in UTC
 */
export function timeOf({ change }: Subject): string {
  const text = change.data?.['createdAt'] ?? change.data?.['signInTime'];
  return isInstant(text) ? new Date(text).toISOString() : change.timestamp;
}

function answered(
  { change }: Subject,
  questionId: number,
  question: Fields,
  activities: Activities,
): Interaction | XapiReason {
  const option = fieldsOf(change.data?.['option']);
  const optionId = integerAt(option, 'id');
  if (optionId === undefined) return 'no-option';
  const content = textAt(option, 'content');
  const seconds = integerAt(change.data ?? {}, 'timeTaken');
  const definition: ActivityDefinition = {
    ...questionNamed(textAt(question, 'content')),
    type: activityTypes.interaction,
    interactionType: 'choice',
    ...(content !== undefined && {
      choices: [{ id: String(optionId), description: inUnknownLanguage(content) }],
    }),
  };
  return {
    object: activities.question(change, questionId, definition),
    result: {
      response: String(optionId),
      ...(seconds !== undefined && seconds >= 0 && { duration: `PT${seconds}S` }),
    },
  };
}

function questionNamed(content: string | undefined): ActivityDefinition {
  return {
    type: activityTypes.question,
    ...(content !== undefined && { name: inUnknownLanguage(content) }),
  };
}

/** Whether a value is a time that xAPI allows. It allows no years with more than four digits. */
function isInstant(value: unknown): value is string {
  if (typeof value !== 'string') return false;
  const atMs = instantMs(value);
  return atMs !== undefined && /^\d{4}-/.test(new Date(atMs).toISOString());
}

function integerAt(fields: Fields, name: string): number | undefined {
  const value = fields[name];
  return typeof value === 'number' && Number.isSafeInteger(value) ? value : undefined;
}

/**
 * Returns a text field, with lone surrogates replaced, because an LRS refuses them; undefined if it is missing or
 * empty.
 */
function textAt(fields: Fields, name: string): string | undefined {
  const value = fields[name];
  return typeof value === 'string' && value !== '' ? wellFormed(value) : undefined;
}
