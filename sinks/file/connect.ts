import { type ConnectForm, quoted } from '../connect.js';

export const fileForm: ConnectForm = {
  title: 'Files',
  makes: 'a line of NDJSON for each change',
  name: 'archive',
  secrets: null,
  reads: [],
  fields: [
    {
      key: 'folder',
      label: 'Folder for the files',
      kind: 'folder',
      hint: 'A folder beside pigeonpost.yaml. It is created, and belongs only to this sink.',
      suggested: './archive',
      standIn: './archive',
    },
  ],
  lines: ({ folder }) => ['type: file', `folder: ${quoted(folder ?? '')}`],
};
