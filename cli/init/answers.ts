/** The answers from which `init` writes a configuration, validated by `questions.ts`. */
export interface InitAnswers {
  /** Address of the service, without `/v2`. */
  readonly service: string;
  /** Name of the environment variable with the API key. */
  readonly keyVariable: string;
  readonly pigeonholes: PigeonholeAnswer;
  readonly sink: SinkAnswer;
}

export const statuses = ['new', 'upcoming', 'live', 'ended'] as const;

export type PigeonholeAnswer =
  | 'all'
  | { readonly ids: readonly number[] }
  | { readonly statuses: readonly (typeof statuses)[number][] };

/** Sink types that need only a few questions; docs/sinks.md describes the others. */
export const sinkTypes = ['file', 'webhook', 'slack', 'hubspot', 'postgres'] as const;
export type InitSinkType = (typeof sinkTypes)[number];

export interface SinkAnswer {
  readonly type: InitSinkType;
  /** A folder, an address or a channel; empty if the secret is enough. */
  readonly destination: string;
  /** Name of the environment variable with its secret; empty if it has none. */
  readonly secretVariable: string;
}

/** The questions for each type of sink, and its name in the file. */
export const sinkFacts: Readonly<
  Record<
    InitSinkType,
    {
      readonly name: string;
      readonly makes: string;
      /** Null: no question. */
      readonly destination: { readonly question: string; readonly suggested: string | null } | null;
      readonly secret: { readonly question: string; readonly suggested: string } | null;
    }
  >
> = {
  file: {
    name: 'archive',
    makes: 'a line of NDJSON for each change',
    destination: { question: 'Folder for the files', suggested: './archive' },
    secret: null,
  },
  webhook: {
    name: 'hooks',
    makes: 'a signed request for each change',
    destination: { question: 'Address that receives the requests', suggested: null },
    secret: { question: 'Environment variable with the signing secret (whsec_…)', suggested: 'HOOK_SECRET' },
  },
  slack: {
    name: 'questions-channel',
    makes: 'messages of the approved questions',
    destination: { question: 'ID of the channel (C…)', suggested: null },
    secret: { question: "Environment variable with the app's bot token (xoxb-…)", suggested: 'SLACK_BOT_TOKEN' },
  },
  hubspot: {
    name: 'crm',
    makes: 'contacts',
    destination: null,
    secret: { question: 'Environment variable with the service key of the account', suggested: 'HUBSPOT_TOKEN' },
  },
  postgres: {
    name: 'warehouse',
    makes: 'a table for each list',
    destination: { question: 'Schema for the tables', suggested: 'engagement' },
    secret: { question: 'Environment variable with the URL of the database', suggested: 'WAREHOUSE_URL' },
  },
};
