import type { JsonObject } from '../json.js';
import type { Conference } from '../world/conference.js';
import { sessionItem } from '../world/session-item.js';
import { isSessionType, SESSION_TYPES } from '../world/session-type.js';
import { FieldChecks } from './field-checks.js';
import { ServiceError } from './service-error.js';

/** Fields the service sets itself, or that are read with checks of their own. */
const NOT_CUSTOM = ['id', 'name', 'type', 'startDate', 'endDate', 'createdAt', 'links', 'parentSessionId'];

/**
 * Creates a session. Times are required for `qna` alone (what other types need is not documented); any other field
 * of a session may be sent and must have the type it has in a session.
 * @throws {ServiceError} 4504, or 4500 for fields
 */
export function createSession(
  conference: Conference,
  pigeonholeId: number,
  body: JsonObject,
  nowMs: number,
): JsonObject {
  const space = conference.space(pigeonholeId);
  if (space === undefined) throw new ServiceError(4504);
  const checks = new FieldChecks(body);
  const name = checks.text('name');
  const type = checks.text('type');
  if (type !== '' && !isSessionType(type)) checks.fail('type', `must be one of ${SESSION_TYPES.join(', ')}`);
  const startsAtMs = checks.instantMs('startDate', type === 'qna');
  const endsAtMs = checks.instantMs('endDate', type === 'qna');
  if (startsAtMs !== null && endsAtMs !== null && endsAtMs < startsAtMs) {
    checks.fail('endDate', 'must not be before startDate');
  }
  const parent = checks.value('parentSessionId') ?? null;
  if (parent !== null && (typeof parent !== 'number' || !space.sessions.has(parent))) {
    checks.fail('parentSessionId', 'must be the id of a session of this pigeonhole');
  }
  const timezone = conference.pigeonholes.item(pigeonholeId)?.['timezone'];
  const id = space.sessions.freeId();
  const item = sessionItem(
    {
      id,
      pigeonholeId,
      name,
      type: isSessionType(type) ? type : 'regular',
      timezone: typeof timezone === 'string' ? timezone : 'UTC',
      startsAtMs,
      endsAtMs,
      createdAtMs: nowMs,
      anonymousResponses: true,
      parentSessionId: typeof parent === 'number' ? parent : null,
    },
    space.seed,
  );
  for (const [field, usual] of Object.entries(item)) {
    const sent = checks.value(field);
    if (sent === undefined || NOT_CUSTOM.includes(field)) continue;
    if (typeof sent === typeof usual) item[field] = sent;
    else checks.fail(field, `must be a ${typeof usual}`);
  }
  checks.throwIfAny();
  space.sessions.insert(item, id);
  return item;
}
