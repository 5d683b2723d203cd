import { type ConnectForm, quoted } from '../connect.js';

export const canvasForm: ConnectForm = {
  title: 'Canvas',
  makes: 'grades for taking part',
  name: 'grades',
  secrets: 'CANVAS_',
  reads: [],
  fields: [
    {
      key: 'baseUrl',
      label: 'Address of your Canvas',
      kind: 'address',
      hint: 'Such as https://canvas.example.net.',
      standIn: 'https://canvas.example.com',
    },
    {
      key: 'token',
      label: 'Access token of a teacher',
      kind: 'secret',
      hint: 'Account, Settings, New Access Token, of a user created for pigeonpost.',
      suggested: 'CANVAS_TOKEN',
      standIn: 'stand-in',
    },
    {
      key: 'course',
      label: 'Course',
      kind: 'choice',
      hint: 'A course in which that user may grade.',
      standIn: '1',
    },
    {
      key: 'assignment',
      label: 'Name of the assignment',
      kind: 'text',
      hint: 'It is created with 100 points if the course has none of this name.',
      suggested: 'Engagement',
      standIn: 'Engagement',
    },
  ],
  lines: ({ baseUrl, token, course, assignment }) => {
    const constant = (text: string | undefined): string => quoted(`"${(text ?? '').replaceAll(/["\\]/g, '')}"`);
    return [
      'type: canvas',
      `baseUrl: ${quoted(baseUrl ?? '')}`,
      `token: ${token}`,
      'records:',
      '  - from: engagement',
      '    when: item.scope = "pigeonhole" and item.offered > 0',
      `    course: ${constant(course)}`,
      `    assignment: ${constant(`name:${assignment ?? ''}`)}`,
      '    createAssignment: { points: 100 }',
      `    user: '"sis_user_id:" & attendee.attendeeCode' # or "sis_login_id:", or a Canvas id`,
      '    grade: $string($round($min([100, item.answered / item.offered * 100]))) & "%"',
    ];
  },
};
