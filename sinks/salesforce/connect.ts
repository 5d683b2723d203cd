import { companyNames, type ConnectForm, emailNames, fieldOf, inYaml, quoted } from '../connect.js';

export const salesforceForm: ConnectForm = {
  title: 'Salesforce',
  makes: 'leads, contacts and members of campaigns',
  name: 'salesforce',
  secrets: 'SF_',
  reads: ['attendees'],
  fields: [
    {
      key: 'loginUrl',
      label: 'My Domain of the org',
      kind: 'address',
      hint: 'Such as https://example.my.salesforce.com.',
      standIn: 'https://example.my.salesforce.com',
    },
    {
      key: 'clientId',
      label: 'Consumer key of the app',
      kind: 'text',
      hint: 'An external client app with the flow "client credentials". For a login with a certificate, see docs/sinks/salesforce.md.',
      standIn: 'stand-in',
    },
    {
      key: 'clientSecret',
      label: 'Consumer secret of the app',
      kind: 'secret',
      hint: 'The secret that belongs to the key.',
      suggested: 'SF_CLIENT_SECRET',
      standIn: 'stand-in',
    },
    {
      key: 'campaign',
      label: 'Campaign that people join',
      kind: 'choice',
      hint: 'By default, nobody joins a campaign.',
      optional: true,
      standIn: '',
    },
  ],
  lines: ({ loginUrl, clientId, clientSecret, campaign, baseUrl }, { attendees }) => [
    'type: salesforce',
    `loginUrl: ${quoted(loginUrl ?? '')}`,
    ...(baseUrl === undefined ? [] : [`baseUrl: ${quoted(baseUrl)}`]),
    `clientId: ${quoted(clientId ?? '')}`,
    `clientSecret: ${clientSecret}`,
    'records:',
    '  - from: attendees',
    '    object: Lead',
    '    create: false # true: needs an external id; see docs/sinks/salesforce.md',
    '    match: [contactEmail, leadEmail]',
    '    properties:',
    `      Email: ${inYaml(`$email(item.${fieldOf(attendees, emailNames)})`)}`,
    `      Company: { value: ${inYaml(`item.${fieldOf(attendees, companyNames)}`)}, write: if-empty }`,
    ...(campaign === undefined ? [] : campaignLines(campaign)),
  ],
};

/** @param campaign `Field__c` for a campaign of each event, `Field__c=id` for one campaign */
function campaignLines(campaign: string): string[] {
  const [field, ...id] = campaign.split('=');
  const value = id.length === 0 ? '$string(pigeonhole.id)' : `'"${id.join('=').replaceAll(/["'\\\\]/g, '')}"'`;
  return [
    '    campaign:',
    `      externalId: { ${field!.replaceAll(/\W/g, '')}: ${value} }`,
    '      status: { registered: Sent, attended: Responded }',
  ];
}
