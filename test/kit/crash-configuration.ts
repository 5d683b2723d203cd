export const hookSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';

/** Returns a configuration with two sinks and short intervals. `more` contains the lines for store and Temporal. */
export function crashConfiguration(baseUrl: string, hook: string, more: readonly string[]): string[] {
  return [
    `workspaces: { acme: { baseUrl: "${baseUrl}", apiKey: "\${SERVICE_KEY}" } }`,
    'syncs:',
    '  all: { workspace: acme, every: { live: 1s, ended: 5s, new: 5s, upcoming: 5s, sweep: 4s }, sinks: [archive, hooks] }',
    'sinks:',
    '  archive: { type: file, folder: ./archive }',
    `  hooks: { type: webhook, url: "${hook}", secret: "\${HOOK_SECRET}", allowPrivateAddresses: true }`,
    ...more,
  ];
}
