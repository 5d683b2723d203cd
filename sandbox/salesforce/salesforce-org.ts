import { createPublicKey, type KeyObject } from 'node:crypto';
import type { FieldDefinition } from './field-definition.js';
import { Org } from './org.js';
import {
  type AssignmentRule,
  type DuplicateRule,
  leadsToQueue,
  standardDuplicateRules,
  type ValidationRule,
} from './org-rules.js';
import { RecordFaults } from './record-faults.js';
import { ownKeyPair } from './own-key-pair.js';
import { Sessions } from './sessions.js';
import { standardTypes } from './sobject-type.js';

export interface SalesforceOptions {
  /**
   * `freshAccount`, the default: what a new org has, which is the standard duplicate rules and an active assignment rule
   * for leads. `noRules`: neither. Rules that are given take the place of the profile's.
   */
  readonly profile?: 'freshAccount' | 'noRules';
  readonly clientId?: string;
  /** Users who may use the connected app; `integration@example.com` by default. */
  readonly usernames?: readonly string[];
  /** PEM of the certificate's or the public key; without it a pair is made, whose private half the double shows. */
  readonly publicKey?: string;
  /** The host that sessions are for; the double itself by default. */
  readonly instanceUrl?: string;
  readonly sessionSeconds?: number;
  /** The org's own fields by object: `{ Lead: [field('Engagement_Id__c', { externalId: true, unique: true })] }`. */
  readonly fields?: Readonly<Record<string, readonly FieldDefinition[]>>;
  readonly validationRules?: readonly ValidationRule[];
  readonly duplicateRules?: readonly DuplicateRule[];
  readonly assignmentRules?: readonly AssignmentRule[];
  /** Objects that the user has no access to: each is answered as if it did not exist. */
  readonly withheldObjects?: readonly string[];
  /** A sandbox or scratch org: its assertions are for test.salesforce.com. */
  readonly sandbox?: boolean;
  /** The app's secret for the client credentials flow; `salesforce-secret` by default. */
  readonly clientSecret?: string;
  /** Requests in any 24 hours; 15,000 by default. */
  readonly dailyRequests?: number;
  /** A record of a collection that cannot be read (an unknown field) refuses itself, or the whole request. */
  readonly unreadableRecord?: 'refuses-itself' | 'refuses-request';
  /** Records a page of a query's answer; 2,000 by default. */
  readonly queryPage?: number;
  readonly now?: () => number;
}

/** The org behind the API: records, sessions, limits and rules. */
export class SalesforceOrg {
  readonly now: () => number;
  readonly clientId: string;
  readonly username: string;
  /** The key to sign assertions with, where the double made it. */
  readonly privateKey: string | undefined;
  readonly org: Org;
  readonly sessions: Sessions;
  readonly recordFaults = new RecordFaults();
  readonly withheldObjects: Set<string>;
  /** Denied permissions of the user, by object; others are granted. */
  readonly permissions: Record<string, { createable?: boolean; updateable?: boolean; deletable?: boolean }> = {};
  readonly clientSecret: string;
  readonly dailyRequests: number;
  readonly unreadableRecord: 'refuses-itself' | 'refuses-request';
  readonly queryPage: number;
  /** Instants of the requests that count. */
  private requests: number[] = [];

  constructor(options: SalesforceOptions) {
    this.now = options.now ?? Date.now;
    this.clientId = options.clientId ?? 'salesforce-client';
    const usernames = options.usernames ?? ['integration@example.com'];
    this.username = usernames[0] ?? '';
    const own = options.publicKey === undefined ? ownKeyPair() : undefined;
    this.privateKey = own?.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const publicKey: KeyObject = own?.publicKey ?? createPublicKey(options.publicKey!);
    this.clientSecret = options.clientSecret ?? 'salesforce-secret';
    this.withheldObjects = new Set(options.withheldObjects);
    const isFresh = options.profile !== 'noRules';
    this.sessions = new Sessions(
      {
        clientId: this.clientId,
        clientSecret: this.clientSecret,
        usernames,
        publicKey,
        audience: options.sandbox === true ? 'https://test.salesforce.com' : 'https://login.salesforce.com',
      },
      options.sessionSeconds ?? 7200,
      this.now,
    );
    this.org = new Org(
      standardTypes(options.fields ?? {}),
      options.validationRules ?? [],
      options.duplicateRules ?? (isFresh ? standardDuplicateRules : []),
      options.assignmentRules ?? (isFresh ? [leadsToQueue] : []),
      this.now,
    );
    this.dailyRequests = options.dailyRequests ?? 15_000;
    this.unreadableRecord = options.unreadableRecord ?? 'refuses-itself';
    this.queryPage = options.queryPage ?? 2000;
  }

  /** Counts one request, unless the limit of 24 hours is used up. */
  takeRequest(): boolean {
    if (this.usedRequests() >= this.dailyRequests) return false;
    this.requests.push(this.now());
    return true;
  }

  usedRequests(): number {
    this.requests = this.requests.filter((at) => at > this.now() - 86_400_000);
    return this.requests.length;
  }
}
