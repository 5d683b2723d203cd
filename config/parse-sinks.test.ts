import { readDocument } from './read-document.js';
import { type SettingPlace, tellPlaces } from './parse-sinks.js';

class Placed {
  line = 0;
  key = '';
  constructor(readonly text: string) {}
  standsAt({ line, key }: SettingPlace): void {
    this.line = line;
    this.key = key;
  }
}

const document = readDocument(
  `sinks:
  crm:
    records:
      - from: attendees
        properties:
          email: item.Email
          name: item.Name
          event: { write: if-newer, value: pigeonhole.name }
      - when: >
          item.scope = "session"
`,
  'pigeonpost.yaml',
  { environment: {}, folder: '/' },
);

function linesOf(settings: unknown): void {
  tellPlaces(settings, document, ['sinks', 'crm']);
}

describe('the position of a setting', () => {
  it('is the line of its own key', () => {
    const [email, name, when] = [
      new Placed('item.Email'),
      new Placed('item.Name'),
      new Placed('item.scope = "session"\n'),
    ];
    linesOf({ records: [{ properties: { email, name } }, { when }] });
    expect([email.line, name.line, when.line]).toEqual([6, 7, 9]);
  });

  it('is the line of its text if the schema nested it deeper', () => {
    const [email, event] = [new Placed('item.Email'), new Placed('pigeonhole.name')];
    linesOf({ records: [{ properties: { email: { value: email }, event: { value: event } } }] });
    expect([email.line, event.line]).toEqual([6, 8]);
    expect(email.key).toBe('sinks.crm.records[0].properties.email');
    expect(event.key).toBe('sinks.crm.records[0].properties.event.value');
  });

  it('is the line of its text if the schema renamed its key', () => {
    const name = new Placed('item.Name');
    linesOf({ records: [{ fields: [{ property: 'name', expression: name }] }] });
    expect(name.line).toBe(7);
  });

  it('is the line of the nearest key in the file if its text is not in the file', () => {
    const standard = new Placed('item.id');
    linesOf({ records: [{ properties: { key: standard } }] });
    expect(standard.line).toBe(5);
  });

  it('can be assigned next to settings that accept no position', () => {
    expect(() => linesOf({ when: null, url: 'x', at: new Date(0), all: [1, undefined] })).not.toThrow();
  });
});
