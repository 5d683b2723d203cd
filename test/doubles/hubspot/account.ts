import { notFound } from './hubspot-refusal.js';
import { MarketingEvents } from './marketing-events.js';
import { contactType, customType, noteType, typeNamed, type CustomObject, type ObjectType } from './object-type.js';
import { Portal } from './portal.js';
import type { PropertyDefinition } from './property-definition.js';
import { RateLimits, type LimitOptions } from './rate-limits.js';
import { Associations } from './associations.js';

/**
 * What a batch does with records that cannot be written, by default as documented of each version:
 * - `whole-batch` 400 and nothing is written
 * - `multi-status` 207, the others are written, `errors` says what was not
 * - `in-200` the same with status 200
 */
export type BatchErrors = 'whole-batch' | 'multi-status' | 'in-200';

export interface HubSpotOptions extends LimitOptions {
  /** Private app tokens and what they may do; `hubspot-token` may do everything by default. */
  readonly tokens?: Readonly<Record<string, readonly string[]>>;
  readonly portalId?: number;
  readonly customObjects?: readonly CustomObject[];
  /** The portal's own properties of contacts. */
  readonly contactProperties?: readonly PropertyDefinition[];
  /** Overrides what a version does by default. */
  readonly batchErrors?: BatchErrors;
  /** How long a written record stays unseen by search; 0 by default. */
  readonly searchLagMs?: number;
  readonly now?: () => number;
}

export const ALL_SCOPES: readonly string[] = [
  ...['contacts', 'custom', 'marketing_events'].flatMap((name) => [
    `crm.objects.${name}.read`,
    `crm.objects.${name}.write`,
  ]),
  'crm.schemas.contacts.read',
  'crm.schemas.custom.read',
];

/** One HubSpot account: its records, definitions, events, tokens and limits. */
export class Account {
  readonly now: () => number;
  readonly portalId: number;
  readonly timeZone: string;
  readonly tokens: Map<string, readonly string[]>;
  readonly types: readonly ObjectType[];
  readonly portal: Portal;
  readonly associations = new Associations();
  readonly marketingEvents: MarketingEvents;
  readonly limits: RateLimits;
  readonly batchErrors: BatchErrors | undefined;
  readonly searchLagMs: number;

  constructor(options: HubSpotOptions) {
    this.now = options.now ?? Date.now;
    this.portalId = options.portalId ?? 4_242_424;
    this.timeZone = options.timeZone ?? 'UTC';
    this.tokens = new Map(Object.entries(options.tokens ?? { 'hubspot-token': ALL_SCOPES }));
    this.types = [
      contactType(options.contactProperties ?? []),
      noteType(),
      ...(options.customObjects ?? []).map((custom, index) => customType(this.portalId, custom, index)),
    ];
    this.portal = new Portal(this.now);
    this.marketingEvents = new MarketingEvents(this.now);
    this.limits = new RateLimits(options);
    this.batchErrors = options.batchErrors;
    this.searchLagMs = options.searchLagMs ?? 0;
  }

  get contacts(): ObjectType {
    return this.types[0]!;
  }

  /** @throws {HubSpotRefusal} 404 for a name that is no object of this portal */
  type(name: string): ObjectType {
    const type = typeNamed(this.types, name);
    if (type === undefined) throw notFound(`Unable to infer object type from: ${name}`);
    return type;
  }
}
