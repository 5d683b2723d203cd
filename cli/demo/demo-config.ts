/** Names in the demo's pigeonpost.yaml. */
export const demoNames = {
  workspace: 'sandbox',
  fileSink: 'archive',
  webhookSink: 'hooks',
  crmSink: 'crm',
  slackSink: 'questions',
} as const;

/** The variables for the secrets of the demo. They are passed to the child and not written to a file. */
export const demoVariables = {
  apiKey: 'PIGEONPOST_DEMO_API_KEY',
  webhookSecret: 'PIGEONPOST_DEMO_WEBHOOK_SECRET',
  hubSpotToken: 'PIGEONPOST_DEMO_HUBSPOT_TOKEN',
  slackToken: 'PIGEONPOST_DEMO_SLACK_TOKEN',
} as const;

/** The only channel of the stand-in for Slack. */
const demoChannel = 'C0123456789';

interface DemoPlaces {
  readonly sandboxUrl: string;
  readonly receiverUrl: string;
  readonly hubSpotUrl: string;
  readonly slackUrl: string;
  readonly apiPort: number;
  /** Requests per 10 s that the stand-ins allow; null for the vendors' limits. */
  readonly per10s: number | null;
}

/**
 * Returns the demo's pigeonpost.yaml: one workspace with all its pigeonholes, and one sink of each type in the demo.
 * Pure.
 */
export function demoConfig({ sandboxUrl, receiverUrl, hubSpotUrl, slackUrl, apiPort, per10s }: DemoPlaces): string {
  const limits = per10s === null ? '' : `\n    limits: { per10s: ${per10s} }`;
  return `# "pigeonpost demo" writes this file at each start and overwrites your changes. Secrets come from the environment.
workspaces:
  ${demoNames.workspace}:
    baseUrl: ${sandboxUrl}
    apiKey: \${${demoVariables.apiKey}}

syncs:
  conference:
    workspace: ${demoNames.workspace}
    every: # short, so that you can watch the demo; for your own event, use the defaults
      live: 1s
      quiet: 30s
      new: 10s
      upcoming: 10s
      ended: 10s
      sweep: 10s
      lists:
        pigeonholes: 5s
        subscriptions: 5s
    sinks: [${demoNames.fileSink}, ${demoNames.webhookSink}, ${demoNames.crmSink}, ${demoNames.slackSink}]

sinks:
  ${demoNames.fileSink}: # by default, receives everyone except people who refused
    type: file
    folder: ./archive
    history: all
  ${demoNames.webhookSink}: # by default, receives only people who gave consent; so do the two sinks below
    type: webhook
    url: ${receiverUrl}
    secret: \${${demoVariables.webhookSecret}}
    allowPrivateAddresses: true
    history: all
  ${demoNames.crmSink}: # a contact for each attendee, who also attends the event in HubSpot
    type: hubspot
    baseUrl: ${hubSpotUrl} # a stand-in on this machine; without this line, the sink uses HubSpot
    token: \${${demoVariables.hubSpotToken}}${limits}
    history: all
    records:
      - from: attendees
        object: contacts
        match: [email]
        properties:
          email: $email(item.Email)
          firstname: $firstName(item.Name)
          lastname: $lastName(item.Name)
          company: item.Company
          jobtitle: item.\`Job title\`
          country: item.Country
      - from: attendees
        object: marketing-event
        event: { name: pigeonhole.name, organizer: '"ACME"' }
        attendance: '"attend"'
        email: $email(item.Email)
  ${demoNames.slackSink}: # approved questions, one thread per session; authors who must stay anonymous appear as "Someone"
    type: slack
    baseUrl: ${slackUrl}/api # a stand-in on this machine; without this line, the sink uses Slack
    token: \${${demoVariables.slackToken}}${limits}
    channel: ${demoChannel}
    history: all
    messages:
      - from: qna-questions
        when: item.status = "allowed"
        text: '(attendee.Name ? attendee.Name : "Someone") & ": " & item.content'
        threadBy: item.session.id

store: embedded:./data
temporal: { address: embedded, namespace: default }
server:
  port: ${apiPort}
network:
  proxy: none # everything runs on this machine
`;
}
