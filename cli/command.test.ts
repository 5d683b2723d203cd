import { parseFullPigeonhole, parseTarget } from './command.js';

describe('a pigeonhole on the command line', () => {
  it.each([
    ['101', ['acme'], { workspace: 'acme', id: '101' }],
    ['pigeonhole:acme/101', ['acme', 'other'], { workspace: 'acme', id: '101' }],
  ])('is found from %s if the workspaces are %s', async (word, workspaces, place) => {
    expect(await parseFullPigeonhole(word, workspaces)).toEqual(place);
  });

  it('needs a workspace if there are several', async () => {
    await expect(parseFullPigeonhole('101', ['acme', 'other'])).rejects.toThrow(
      'give WORKSPACE/101; the workspaces are acme, other',
    );
  });
});

describe('the target of an action', () => {
  const names = async () => ({ workspaces: ['acme'], sinks: ['crm', 'questions-channel'] });

  it('is a sink, a workspace or a pigeonhole by its name', async () => {
    expect(await parseTarget('crm', names)).toEqual({ kind: 'sink', name: 'crm' });
    expect(await parseTarget('acme', names)).toEqual({ kind: 'workspace', name: 'acme' });
    expect(await parseTarget('101', names)).toEqual({ kind: 'pigeonhole', name: 'acme/101' });
  });

  it.each([
    ['crmm', 'did you mean "crm"?'],
    ['question-channel', 'did you mean "questions-channel"?'],
    ['amce', 'did you mean "acme"?'],
    ['everything', 'write workspace:NAME, pigeonhole:WORKSPACE/ID or sink:NAME'],
  ])('that is unknown, %s, is refused with the name that was meant', async (word, hint) => {
    await expect(parseTarget(word, names)).rejects.toThrow(`"${word}" is unknown: ${hint}`);
  });
});
