import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { example, exampleEnvironment, exampleFiles } from '../../config/example.test-kit.js';
import { kinds } from '../kit/scenario-kinds.js';
import { previewSink } from '../../operations/preview-sink.js';
import { attendee, pollVote, qnaQuestion, question, session, vote } from '../kit/items.js';
import { everyone, useStages } from '../kit/stage.js';

const stages = useStages();

describe.each(kinds)('the example of the whole configuration, on %s', (kind) => {
  it('previews the deliveries to each sink without a failing mapping', async () => {
    const stage = await stages.open(kind);
    const by = { id: 1, anonymous: false };
    await stage.patch('pigeonholes', 101, { name: 'ACME Days', startDate: '2026-11-21T07:00:00+00:00' });
    await stage.put('sessions', session(1, { anonymousResponses: false }));
    await stage.put('attendees', attendee(1, { Company: 'ACME' }), attendee(2));
    await stage.put('questions', question(11, 1, 1));
    await stage.put('qna-questions', qnaQuestion(11, by, 1), qnaQuestion(12, by, 1, { status: 'hidden' }));
    await stage.put('votes', vote(11, 1, 1));
    await stage.put('poll-mcq-votes', pollVote(51, by, 1));
    const archive = `{ type: file, folder: ./archive, ${everyone} }`;
    const counts = `{ type: file, folder: ./counts, lists: [engagement], ${everyone} }`;
    const scene = await stage.scene({ sinks: { archive, counts } });
    await scene.settle();
    for (const [name, text] of Object.entries(exampleFiles)) writeFileSync(join(scene.folder, name), text);
    writeFileSync(scene.deps.config.file, example); // a sent configuration may use the references of the running file

    const configuration = { file: '/elsewhere/pigeonpost.yaml', text: example };
    const asked = { list: null, pigeonhole: null, key: null, limit: 1000, configuration, changedFrom: null };
    const sent: Record<string, string[]> = {};
    for (const sink of Object.keys((parseDocument(example).toJS() as { sinks: object }).sinks)) {
      const shown = await previewSink(scene.deps, { sink, ...asked }, exampleEnvironment);
      if ('unknown' in shown) throw new Error(shown.unknown);
      expect(shown.items.filter(({ now }) => now.kind === 'fail')).toEqual([]);
      const sending = shown.items.filter(({ now }) => now.kind === 'send');
      sent[sink] = [...new Set(sending.map(({ list }) => list))].toSorted();
    }
    const all = ['attendees', 'pigeonholes', 'poll-mcq-votes', 'qna-questions', 'questions', 'sessions', 'votes'];
    expect(sent).toEqual({
      crm: ['attendees'],
      salesforce: ['attendees'],
      'questions-channel': ['qna-questions'],
      lms: ['attendees', 'engagement', 'poll-mcq-votes', 'qna-questions', 'votes'],
      grades: ['engagement'],
      warehouse: all,
      hooks: ['questions', 'votes'],
      archive: all,
    });
  });
});
