import {
  companyNames,
  type ConnectForm,
  emailNames,
  fieldOf,
  inYaml,
  phoneNames,
  quoted,
  seenField,
  seenProperties,
  titleNames,
} from '../connect.js';

/** Properties that a contact has in every account, with the fields that usually hold them. */
const usual: readonly (readonly [string, readonly string[]])[] = [
  ['company', companyNames],
  ['jobtitle', titleNames],
  ['phone', phoneNames],
];

export const hubspotForm: ConnectForm = {
  title: 'HubSpot',
  makes: 'contacts',
  name: 'crm',
  secrets: 'HUBSPOT_',
  reads: ['attendees'],
  fields: [
    {
      key: 'token',
      label: 'Service key of the account',
      kind: 'secret',
      hint: 'Settings, Integrations, Service keys, with read and write of contacts.',
      suggested: 'HUBSPOT_TOKEN',
      standIn: 'stand-in',
    },
    {
      key: 'properties',
      label: 'Further properties to fill',
      kind: 'choices',
      hint: 'E-mail address and name are always filled. A property without a field of the same name becomes a comment that you complete.',
      optional: true,
      standIn: '',
    },
  ],
  lines: ({ token, properties, baseUrl }, { attendees }) => {
    const name = `item.${fieldOf(attendees, ['Name', 'Full name'])}`;
    return [
      'type: hubspot',
      `token: ${token}`,
      ...(baseUrl === undefined ? [] : [`baseUrl: ${quoted(baseUrl)}`]),
      'records:',
      '  - from: attendees',
      '    object: contacts',
      '    match: [email]',
      '    create: true # false: only update',
      '    properties: # "pigeonpost fields attendees" lists the fields of your attendees; see docs/mapping.md',
      `      email: ${inYaml(`$email(item.${fieldOf(attendees, emailNames)})`)}`,
      `      firstname: { value: '$firstName(${name}) ?: ${name}', write: if-empty } # keeps what your colleagues entered`,
      `      lastname: { value: '$firstName(${name}) ? $lastName(${name})', write: if-empty }`,
      ...(properties === undefined
        ? seenProperties(attendees, usual).map((line) => `      ${line}`)
        : properties.split(',').map((entered) => {
            const property = entered.replaceAll(/\W/g, '');
            const names = usual.find(([each]) => each === property)?.[1] ?? [property];
            const found = seenField(attendees, names);
            return found === undefined
              ? `      # ${property}: item.…`
              : `      ${property}: ${inYaml(`item.${found}`)}`;
          })),
    ];
  },
};
