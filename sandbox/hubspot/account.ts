import type { DoubleAnswer } from '../serve/double-request.js';
import { RollingLimit } from '../serve/call-limit.js';
import { notFound } from './call.js';
import { MarketingEvents } from './marketing-events.js';
import {
  contactType,
  customType,
  noteType,
  typeNamed,
  type ConditionalRule,
  type CustomObject,
  type ObjectType,
  type PropertyDefinition,
} from './object-type.js';
import { type CrmRecord, Portal } from './portal.js';

/**
 * Treatment of records in a batch that cannot be written. The default is the documented one of each version:
 * - `whole-batch` 400 and nothing is written
 * - `multi-status` 207; the others are written, and `errors` names the records that were not
 * - `in-200` the same with status 200
 */
export type BatchErrors = 'whole-batch' | 'multi-status' | 'in-200';

/**
 * The content of the account before a test.
 * - `freshAccount` a new HubSpot account as of November 2026, with an administrator who has set rules: `firstname` is
 *   required when a contact is created, and `hs_lead_status` if `lifecyclestage` is `salesqualifiedlead`. The token is a
 *   service key: it lacks the scope `oauth`, so it may not read the account's details, and it belongs to no private app.
 * - `withoutRules` no rules, and the token of a private app that may read everything.
 */
type Profile = 'freshAccount' | 'withoutRules';

export interface HubSpotOptions extends LimitOptions {
  /** `freshAccount` by default. */
  readonly profile?: Profile;
  /**
   * Tokens and the scopes that they have; by default `hubspot-token` with every scope of the profile. Each is a
   * separate app.
   */
  readonly tokens?: Readonly<Record<string, readonly string[]>>;
  /** Contact properties that are required on creation, in place of the profile's. */
  readonly requiredOfContacts?: readonly string[];
  /** Maximum number of associations in an answer of the batch read; `after` reads the others. */
  readonly associationsPerPage?: number;
  /** Lists of contacts. They are static unless `dynamic`: HubSpot fills dynamic lists by filters. */
  readonly lists?: readonly { readonly listId: string; readonly dynamic?: boolean }[];
  readonly customObjects?: readonly CustomObject[];
  /** Custom properties of contacts. */
  readonly contactProperties?: readonly PropertyDefinition[];
  /** Overrides the version's default. */
  readonly batchErrors?: BatchErrors;
  readonly now?: () => number;
}

/** The scopes relevant here that a service key can have. */
export const ALL_SCOPES: readonly string[] = [
  ...['contacts', 'custom', 'marketing_events'].flatMap((name) => [
    `crm.objects.${name}.read`,
    `crm.objects.${name}.write`,
  ]),
  'crm.schemas.contacts.read',
  'crm.schemas.custom.read',
  'crm.lists.read',
  'crm.lists.write',
];

const CONDITION: ConditionalRule = {
  whenProperty: 'lifecyclestage',
  hasValue: 'salesqualifiedlead',
  requires: 'hs_lead_status',
};

/** One HubSpot account: its records, definitions, events, tokens and limits. */
export class Account {
  readonly now: () => number;
  readonly portalId = 4_242_424;
  readonly timeZone: string;
  readonly tokens: Map<string, readonly string[]>;
  readonly types: readonly ObjectType[];
  readonly portal: Portal;
  readonly associations = new Associations();
  readonly lists: ReadonlyMap<string, ContactList>;
  readonly profile: Profile;
  readonly marketingEvents: MarketingEvents;
  readonly limits: RateLimits;
  readonly batchErrors: BatchErrors | undefined;
  readonly associationsPerPage: number;

  constructor(options: HubSpotOptions) {
    this.now = options.now ?? Date.now;
    this.timeZone = options.timeZone ?? 'UTC';
    this.profile = options.profile ?? 'freshAccount';
    const isFresh = this.profile === 'freshAccount';
    this.tokens = new Map(
      Object.entries(options.tokens ?? { 'hubspot-token': isFresh ? ALL_SCOPES : [...ALL_SCOPES, 'oauth'] }),
    );
    this.lists = new Map(
      (options.lists ?? []).map(({ listId, dynamic }) => [
        listId,
        { listId, processingType: dynamic === true ? 'DYNAMIC' : 'MANUAL', members: new Set() },
      ]),
    );
    this.types = [
      contactType(options.contactProperties ?? [], {
        required: options.requiredOfContacts ?? (isFresh ? ['firstname'] : []),
        conditional: isFresh ? [CONDITION] : [],
      }),
      noteType(),
      ...(options.customObjects ?? []).map((custom, index) => customType(this.portalId, custom, index)),
    ];
    this.portal = new Portal(this.now);
    this.marketingEvents = new MarketingEvents(this.now);
    this.limits = new RateLimits(options);
    this.batchErrors = options.batchErrors;
    this.associationsPerPage = options.associationsPerPage ?? 500;
  }

  get contacts(): ObjectType {
    return this.types[0]!;
  }

  /**
   * Merges contacts as a person does in HubSpot. The associations, participations and memberships of `gone` move to
   * `kept`.
   * @param redirects whether the old id then returns the surviving contact
   */
  mergeContacts(kept: CrmRecord, gone: CrmRecord, redirects = true): void {
    this.associations.move(this.contacts.name, gone.id, kept.id);
    this.marketingEvents.moveContact(gone.id, kept.id);
    for (const { members } of this.lists.values()) if (members.delete(gone.id)) members.add(kept.id);
    this.portal.merge(kept, gone, redirects);
  }

  /** @throws {HubSpotRefusal} 404 if the portal has no object of this name */
  type(name: string): ObjectType {
    const type = typeNamed(this.types, name);
    if (type === undefined) throw notFound(`Unable to infer object type from: ${name}`);
    return type;
  }
}

/** One direction of one association between two records. */
interface Association {
  readonly fromType: string;
  readonly fromId: string;
  readonly toType: string;
  readonly toId: string;
  readonly category: 'HUBSPOT_DEFINED' | 'USER_DEFINED';
  readonly typeId: number;
}

/** Associations of records. Both records show an association. Creating it again has no effect. */
class Associations {
  private readonly made = new Map<string, Association>();

  add(association: Association): void {
    this.made.set(keyOf(association), association);
  }

  /** Returns the associations of one record, regardless of the direction in which they were created. */
  of(type: string, id: string, otherType: string): { toId: string; category: string; typeId: number }[] {
    return [...this.made.values()].flatMap(({ fromType, fromId, toType, toId, category, typeId }) => {
      if (fromType === type && fromId === id && toType === otherType) return [{ toId, category, typeId }];
      if (toType === type && toId === id && fromType === otherType) return [{ toId: fromId, category, typeId }];
      return [];
    });
  }

  /** Removes all associations between two records. */
  removeBetween(type: string, id: string, otherType: string, otherId: string): void {
    for (const [key, { fromType, fromId, toType, toId }] of this.made) {
      const forwards = fromType === type && fromId === id && toType === otherType && toId === otherId;
      const backwards = toType === type && toId === id && fromType === otherType && fromId === otherId;
      if (forwards || backwards) this.made.delete(key);
    }
  }

  /** Moves the associations of one record to another one of its type. */
  move(type: string, id: string, to: string): void {
    const isOf = ({ fromType, fromId, toType, toId }: Association): boolean =>
      (fromType === type && fromId === id) || (toType === type && toId === id);
    const moving = [...this.made].filter(([, association]) => isOf(association));
    for (const [key, association] of moving) {
      const { fromType, fromId, toType, toId } = association;
      const moved = {
        ...association,
        ...(fromType === type && fromId === id && { fromId: to }),
        ...(toType === type && toId === id && { toId: to }),
      };
      this.made.delete(key);
      this.made.set(keyOf(moved), moved);
    }
  }

  removeAllOf(type: string, id: string): void {
    for (const [key, { fromType, fromId, toType, toId }] of this.made) {
      if ((fromType === type && fromId === id) || (toType === type && toId === id)) this.made.delete(key);
    }
  }

  all(): Association[] {
    return [...this.made.values()];
  }
}

function keyOf({ fromType, fromId, toType, toId, typeId }: Association): string {
  return [fromType, fromId, toType, toId, typeId].join(' ');
}

/** A list of contacts, which HubSpot's pages call a segment. */
export interface ContactList {
  readonly listId: string;
  /** `MANUAL`: filled by people and by calls; `DYNAMIC`: filled by HubSpot's filters, so that no call may change it. */
  readonly processingType: 'MANUAL' | 'DYNAMIC';
  readonly members: Set<string>;
}

interface LimitOptions {
  /** Requests in any ten seconds: 100 by default, as in free accounts; 190 in professional ones. */
  readonly per10s?: number;
  /** Length of that window: ten seconds by default, shorter in tests. */
  readonly windowMs?: number;
  /** Requests per day in the account's time zone: 250,000 by default. */
  readonly perDay?: number;
  /** IANA name of the time zone in which the day of the daily limit starts; UTC by default. */
  readonly timeZone?: string;
}

type Policy = 'TEN_SECONDLY_ROLLING' | 'DAILY';

/** An account's limits. A refused request does not count. Documented: "Usage guidelines". */
class RateLimits {
  private readonly rolling: RollingLimit;
  private readonly perDay: number;
  private readonly days: Intl.DateTimeFormat;
  private day = '';
  private usedToday = 0;

  constructor(options: LimitOptions) {
    this.rolling = new RollingLimit(options.per10s ?? 100, options.windowMs ?? 10_000);
    this.perDay = options.perDay ?? 250_000;
    this.days = new Intl.DateTimeFormat('en-CA', { timeZone: options.timeZone ?? 'UTC', dateStyle: 'short' });
  }

  /** Counts one request, or returns the limit that it exceeds. */
  take(nowMs: number): Policy | undefined {
    const day = this.dayOf(nowMs);
    if (day !== this.day) [this.day, this.usedToday] = [day, 0];
    if (this.usedToday >= this.perDay) return 'DAILY';
    if (!this.rolling.take(nowMs)) return 'TEN_SECONDLY_ROLLING';
    this.usedToday += 1;
    return undefined;
  }

  /** Counts requests that other programs sent for the same account. The double does not list them. */
  useFromElsewhere(requests: number, nowMs: number): void {
    for (let used = 0; used < requests; used += 1) this.take(nowMs);
  }

  headers(nowMs: number): Record<string, string> {
    return {
      'X-HubSpot-RateLimit-Daily': String(this.perDay),
      'X-HubSpot-RateLimit-Daily-Remaining': String(this.dailyRemaining(nowMs)),
      'X-HubSpot-RateLimit-Interval-Milliseconds': String(this.rolling.windowMs),
      'X-HubSpot-RateLimit-Max': String(this.rolling.max),
      'X-HubSpot-RateLimit-Remaining': String(this.rolling.remaining(nowMs)),
    };
  }

  private dailyRemaining(nowMs: number): number {
    return this.perDay - (this.dayOf(nowMs) === this.day ? this.usedToday : 0);
  }

  private dayOf(atMs: number): string {
    return this.days.format(atMs);
  }
}

const MESSAGES: Readonly<Record<Policy, string>> = {
  TEN_SECONDLY_ROLLING: 'You have reached your ten_secondly_rolling limit.',
  DAILY: 'You have reached your daily limit.',
};

/** Builds the answer to a request over a limit. HubSpot sends no Retry-After with it. */
export function overLimit(policyName: Policy, correlationId: string): DoubleAnswer {
  return {
    status: 429,
    json: {
      status: 'error',
      message: MESSAGES[policyName],
      errorType: 'RATE_LIMIT',
      correlationId,
      policyName,
      requestId: correlationId,
    },
  };
}
