import { type InitAnswers, type InitSinkType, type PigeonholeAnswer, type SinkAnswer, sinkFacts } from './questions.js';

/** Returns a pigeonpost.yaml for the answers, with comments at the keys that people change first. Pure. */
export function writeConfiguration({ service, keyVariable, pigeonholes, sink }: InitAnswers, port = 8088): string {
  const { name } = sinkFacts[sink.type];
  return `# Configuration of pigeonpost: the data to read and where to send it. docs/configuration.md describes every key.
# pigeonpost takes \${NAME} from the environment when it starts. Do not write secrets into this file.

workspaces:
  main: # a name of your own for one API key
    baseUrl: ${quoted(service)}
    apiKey: \${${keyVariable}}
    # quota: { reserve: 10% } # share of the key's requests that is reserved for imports of registrants

syncs:
  events:
    workspace: main
${choice(pigeonholes)}
    # every: { live: 5s, upcoming: 5m, ended: 6h } # polling intervals; "pigeonpost check --estimate" shows the requests they need
    # drop: { attendees: [linkedIn, "Dietary needs"] } # fields of items that are not stored
    sinks: [${name}]

sinks:
  ${name}: # ${sinkFacts[sink.type].makes}
${sinkLines(sink)
  .map((line) => `    ${line}`)
  .join('\n')}

# The ledger is in ./data beside this file. Keep it: it records what was delivered. For several processes:
# store: \${DATABASE_URL}
# ledgerKey: \${LEDGER_KEY} # openssl rand -base64 32; the same for every process, and kept apart from the backups
# temporal: { address: "127.0.0.1:7233" }
${port === 8088 ? '' : `\nserver:\n  port: ${port} # 8088 was in use on this machine\n`}`;
}

function choice(pigeonholes: PigeonholeAnswer): string {
  if (pigeonholes === 'all') return '    # pigeonholes: [101, 102] # all, unless you uncomment this line';
  if ('ids' in pigeonholes) return `    pigeonholes: [${pigeonholes.ids.join(', ')}]`;
  return `    pigeonholes:
      status: [${pigeonholes.statuses.join(', ')}] # for individual pigeonholes, replace these lines with "pigeonholes: [101, 102]"
      # name: "^ACME " # a regular expression`;
}

const consentOf = {
  all: '# consent: { accept: [obtained, not-asked, not-known], basis: "own records" } # by default everyone except people who refused',
  obtained: 'consent: { accept: [obtained], basis: "consent given at sign-in" }',
} as const;

const linesOf: Readonly<Record<InitSinkType, (sink: SinkAnswer) => string[]>> = {
  file: ({ destination }) => ['type: file', `folder: ${quoted(destination)}`, consentOf.all],
  webhook: ({ destination, secretVariable }) => [
    'type: webhook',
    `url: ${quoted(destination)}`,
    `secret: \${${secretVariable}} # create one: echo "whsec_$(openssl rand -base64 32)"`,
    ...(isLoopback(destination) ? ['allowPrivateAddresses: true # the receiver is on this machine'] : []),
    '# lists: [questions, votes] # all by default',
    consentOf.obtained,
  ],
  slack: ({ destination, secretVariable }) => [
    'type: slack',
    `token: \${${secretVariable}}`,
    `channel: ${quoted(destination)}`,
    'messages:',
    '  - from: qna-questions',
    '    when: item.status = "allowed" # JSONata; docs/mapping.md',
    '    text: item.content',
    '    threadBy: session.id',
  ],
  hubspot: ({ secretVariable }) => [
    'type: hubspot',
    `token: \${${secretVariable}}`,
    'mode: observe # only counts; to send, run "pigeonpost sink approve crm" or remove this line',
    consentOf.obtained,
    'records:',
    '  - from: attendees',
    '    object: contacts',
    '    match: [email]',
    '    create: true # false: only update',
    '    properties: # "pigeonpost fields attendees" lists the fields of your attendees; see docs/mapping.md',
    '      email: $lowercase(item.Email)',
    `      firstname: { value: '$firstName(item.Name) ?: item.Name', write: if-empty } # keeps what your colleagues entered`,
    `      lastname: { value: '$firstName(item.Name) ? $lastName(item.Name)', write: if-empty }`,
  ],
  postgres: ({ destination, secretVariable }) => [
    'type: postgres',
    `url: \${${secretVariable}}`,
    `schema: ${quoted(destination)}`,
    consentOf.all,
  ],
};

function sinkLines(sink: SinkAnswer): string[] {
  return linesOf[sink.type](sink);
}

/** Quotes a text for YAML. Every JSON string is valid YAML. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

function isLoopback(address: string): boolean {
  const host = URL.canParse(address) ? new URL(address).hostname : '';
  return host === 'localhost' || host === '[::1]' || host.startsWith('127.');
}
