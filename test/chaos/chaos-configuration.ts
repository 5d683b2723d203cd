/** Addresses and files of a run. */
export interface ChaosPlaces {
  readonly baseUrl: string;
  /** Receivers by the name of their sink. */
  readonly hooks: Readonly<Record<string, string>>;
  /** Further sinks by name, as YAML. */
  readonly vendors: Readonly<Record<string, string>>;
  readonly port: number;
  /** Null: the embedded store, in `data`, with its own Temporal. */
  readonly postgres: { readonly temporalAddress: string } | null;
  readonly deletions: boolean;
}

/** Returns a configuration with short intervals, a sink of each kind, and deletions without holds or a day's wait. */
export function chaosConfiguration({ baseUrl, hooks, vendors, port, postgres, deletions }: ChaosPlaces): string[] {
  const every = 'every: { live: 1s, ended: 3s, new: 5s, upcoming: 5s, sweep: 4s, lists: { pigeonholes: 5s } }';
  const settle = 'deletions: { settle: 1s, confirm: 5s, holdAbove: { share: 100%, items: 1000000 } }';
  return [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs:',
    `  all: { workspace: acme, ${every}, ${deletions ? `${settle}, ` : ''}sinks: [archive, ${Object.keys({ ...hooks, ...vendors }).join(', ')}] }`,
    'sinks:',
    '  archive: { type: file, folder: ./archive }',
    ...Object.entries(hooks).map(
      ([name, url]) =>
        `  ${name}: { type: webhook, url: "${url}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`,
    ),
    ...Object.entries(vendors).map(([name, yaml]) => `  ${name}: ${yaml}`),
    `server: { port: ${port} }`,
    'network: { proxy: none }',
    ...(postgres === null ? [] : ['store: "${DATABASE_URL}"', `temporal: { address: "${postgres.temporalAddress}" }`]),
  ];
}
