/**
 * What creating takes. The service ignores body properties that it does not know, so further fields may be given; they
 * are sent as they are. Source: docs/service-contract.md, "Creating".
 */

export interface NewPigeonhole {
  readonly name: string;
  /** YYYY-MM-DD. */
  readonly startDate: string;
  /** YYYY-MM-DD. */
  readonly endDate: string;
  /** IANA time-zone name. */
  readonly timezone: string;
  /** Needed in a Team workspace. The field's name is not documented; this is our belief. */
  readonly subscriptionId?: number;
  readonly [field: string]: unknown;
}

export interface NewSession {
  readonly name: string;
  /** See `knownSessionTypes`. */
  readonly type: string;
  /** ISO 8601 in UTC; with `endDate` required for type qna. */
  readonly startDate?: string;
  readonly endDate?: string;
  readonly [field: string]: unknown;
}

/** A registrant to be: the code, and a text per profile field that is enabled in the pigeonhole, under the field's name. */
export interface NewRegistrant {
  readonly attendeeCode: string;
  readonly [profileField: string]: string;
}

/** Registrants as they were printed before, for who keeps them so: a thousand need not be read and printed again. */
export interface PrintedRegistrants {
  /** Of a JSON array of `NewRegistrant`, without its brackets. */
  readonly elements: string;
}
