import type { SinkConfig } from '../config/config.js';
import { mayIdentify } from '../ledger/visibility.js';
import { declaredByType } from '../sinks/all-reasons.js';
import { expressionsIn, type PlacedExpression } from '../sinks/mapping/expression-schema.js';
import { mentionedFields, type Mention } from '../sinks/mapping/mentioned-fields.js';

/** The part of a sink's configuration that decides which expressions a reason is about. */
export type SinkMapping = Pick<SinkConfig, 'type' | 'settings'>;

/** Items of a list that a sink withholds for a reason. */
export interface WithheldFor {
  readonly list: string;
  readonly reason: string;
}

export interface NamedExpression extends PlacedExpression {
  /** The key as written: a property may be written as a group, whose expression is in its key `value`. */
  readonly asWritten: string;
}

/** Returns the expressions of a sink that the declaration of a reason names (`Reason.readBy`), for one list. */
export function expressionsOfReason({ type, settings }: SinkMapping, { list, reason }: WithheldFor): NamedExpression[] {
  const readBy = declaredByType[type]?.reasons[reason]?.readBy;
  if (readBy === undefined) return [];
  return expressionsIn(settings)
    .filter(({ from }) => from === undefined || from === list)
    .map((placed) => ({ ...placed, asWritten: placed.key.replace(/\.value$/, '') }))
    .filter(({ asWritten }) => readBy.keys.test(asWritten) && isListed(settings, asWritten, readBy.listedIn));
}

interface WithRecords {
  readonly records?: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Whether the value of a key counts, if the entry lists its properties: only the listed properties then, or without a
 * list everything but its properties.
 */
function isListed(settings: unknown, key: string, listedIn: string | undefined): boolean {
  if (listedIn === undefined) return true;
  const [, record, property] = /^records\[(\d+)\]\.(?:properties\.(.+))?/.exec(key) ?? [];
  const listed = (settings as WithRecords).records?.[Number(record)]?.[listedIn];
  if (!Array.isArray(listed)) return property === undefined;
  return property !== undefined && listed.includes(property);
}

/** By mapping: whether a missing value may be one of the person, by list and reason. */
const known = new WeakMap<SinkMapping, Map<string, boolean>>();

/**
 * Returns true if the value that a reason says is missing may be one of the person, so that it is rightly absent while
 * the person's identity is hidden. Also true if the sink does not declare which expression reads the value.
 */
export function mayLackPerson(mapping: SinkMapping, withheld: WithheldFor): boolean {
  const answers = known.get(mapping) ?? new Map<string, boolean>();
  known.set(mapping, answers);
  const name = `${withheld.list} ${withheld.reason}`;
  const answer = answers.get(name) ?? readsPerson(expressionsOfReason(mapping, withheld));
  answers.set(name, answer);
  return answer;
}

function readsPerson(expressions: readonly NamedExpression[]): boolean {
  return expressions.length === 0 || expressions.some(({ expression }) => mentionedFields(expression).some(isOfPerson));
}

/** Whether a mention reads the attendee's record, or a member of the item that an anonymous item lacks. */
function isOfPerson(mention: Mention): boolean {
  if (mention.of === 'attendee' || mention.of === 'field') return true;
  if (mention.of !== 'item' && mention.of !== 'previous') return false;
  return mention.path.length === 0 || mention.path.some(mayIdentify);
}
