/** Names in the demo's pigeonpost.yaml. */
export const demoNames = { workspace: 'sandbox', fileSink: 'archive', webhookSink: 'hooks' } as const;

/** Variables that its secrets come from. They are handed to the child and stand in no file. */
export const demoVariables = {
  apiKey: 'PIGEONPOST_DEMO_API_KEY',
  webhookSecret: 'PIGEONPOST_DEMO_WEBHOOK_SECRET',
} as const;

export interface DemoAddresses {
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly apiPort: number;
}

/** The text of the demo's pigeonpost.yaml: one workspace, everything in it, a file and a webhook sink. Pure. */
export function demoConfig({ sandboxUrl, receiverUrl, apiPort }: DemoAddresses): string {
  return `# Written by "pigeonpost demo" at each start: changes are lost. Secrets come from its environment.
workspaces:
  ${demoNames.workspace}:
    baseUrl: ${sandboxUrl}
    apiKey: \${${demoVariables.apiKey}}

syncs:
  conference:
    workspace: ${demoNames.workspace}
    every: # an own event is well served by the defaults; this one is for watching
      live: 1s
      new: 10s
      upcoming: 10s
      ended: 10s
      sweep: 10s
      lists:
        pigeonholes: 5s
        subscriptions: 5s
    sinks: [${demoNames.fileSink}, ${demoNames.webhookSink}]

sinks:
  ${demoNames.fileSink}: # takes everyone but those who refused, its default
    type: file
    folder: ./archive
    history: all
  ${demoNames.webhookSink}: # takes those who consented alone, its default
    type: webhook
    url: ${receiverUrl}
    secret: \${${demoVariables.webhookSecret}}
    allowPrivateAddresses: true
    history: all

store: embedded:./data
temporal: { address: embedded, namespace: default }
server:
  port: ${apiPort}
network:
  proxy: none # all of it is on this machine
`;
}
