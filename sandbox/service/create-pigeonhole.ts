import type { JsonObject } from '../json.js';
import type { Conference } from '../world/conference.js';
import { DEFAULT_DESCRIPTION } from '../world/pigeonhole-item.js';
import { isTimezone } from '../world/zoned-time.js';
import { FieldChecks } from './field-checks.js';
import { ServiceError } from './service-error.js';

/**
 * Creates a pigeonhole of status `new`.
 * @param subscriptionField the body's field that names the subscription, which a Team workspace must send
 * @throws {ServiceError} 4500 for fields, 4505 for a subscription that does not exist
 */
export function createPigeonhole(
  conference: Conference,
  body: JsonObject,
  options: { workspaceKind: 'personal' | 'team'; subscriptionField: string },
): JsonObject {
  const checks = new FieldChecks(body);
  const name = checks.text('name');
  const startDate = checks.date('startDate');
  const endDate = checks.date('endDate');
  const timezone = checks.text('timezone');
  if (timezone !== '' && !isTimezone(timezone)) checks.fail('timezone', 'must be an IANA time-zone name');
  if (startDate !== '' && endDate !== '' && endDate < startDate) checks.fail('endDate', 'must not be before startDate');
  const flag = (field: string, fallback: boolean): boolean => {
    const value = checks.value(field) ?? fallback;
    if (typeof value !== 'boolean') checks.fail(field, 'must be true or false');
    return value === true;
  };
  const attendeeProfiles = flag('attendeeProfiles', true);
  const registrants = flag('registrants', false);
  const attendeeCodeRequired = flag('attendeeCodeRequired', false);
  const description = checks.value('description') ?? DEFAULT_DESCRIPTION;
  if (typeof description !== 'string') checks.fail('description', 'must be a string');
  if (options.workspaceKind === 'team') {
    const subscription = checks.value(options.subscriptionField);
    if (subscription === undefined || subscription === null) checks.fail(options.subscriptionField, 'is required');
    else if (typeof subscription !== 'number' || !conference.subscriptions.has(subscription))
      throw new ServiceError(4505);
  }
  checks.throwIfAny();
  return conference.createPigeonhole({
    name,
    description: typeof description === 'string' ? description : '',
    startDate,
    endDate,
    status: 'new',
    timezone,
    attendeeProfiles,
    registrants,
    attendeeCodeRequired,
  });
}
