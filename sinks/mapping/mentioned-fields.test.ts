import { readFileSync } from 'node:fs';
import { Secret } from '../../config/secret.js';
import { jsonataFunctions } from './check-syntax.js';
import { Expression } from './expression.js';
import { expressionsIn } from './expression-schema.js';
import { joinsOf, mentionedFields, type Mention } from './mentioned-fields.js';

const inWords = (mention: Mention): string =>
  mention.of === 'field' ? `$field ${mention.names.join('|')}` : [mention.of, ...mention.path].join('.');

describe('the fields that an expression mentions', () => {
  it.each([
    ['item.Email', ['item.Email']],
    ['$lowercase(item.Email)', ['item.Email']],
    ['item.`E-mail`', ['item.E-mail']],
    ['item."Job title"', ['item.Job title']],
    ['item', ['item']],
    ['"text"', []],
    ['item.Company ? item.Company : attendee.Firm', ['item.Company', 'attendee.Firm']],
    ['item.scope = "session" and item.interactions >= 3', ['item.scope', 'item.interactions']],
    ['"sis_user_id:" & attendee.attendeeCode', ['attendee.attendeeCode']],
    ['$min([100, item.answered / item.offered * 100])', ['item.answered', 'item.offered']],
    ['-item.n', ['item.n']],
    ['item.session.name', ['item.session.name']],
    ['$$.item.z', ['item.z']],
    ['($e := item.Email; $e ~> $uppercase)', ['item.Email']],
    ['{ "a": item.x, item.k: session.y }', ['item.x', 'item.k', 'session.y']],
    ['item.options[content = "x"].id', ['item.options.content', 'item.options.id']],
    ['item.options[0]', ['item.options']],
    ['item.options^(>rank).id', ['item.options.rank', 'item.options.id']],
    ['item{ status: id }', ['item', 'item.status', 'item.id']],
    ['item.$uppercase(Email)', ['item.Email', 'item']],
    ['item.tags.(name & code)', ['item.tags.name', 'item.tags.code', 'item.tags']],
    ['attendee.*', ['attendee']],
    ['item.**.x', ['item']],
    ['$map(item.tags, function($v) { $v.name & session.name })', ['item.tags', 'session.name']],
    ['$lookup(item, "E-mail")', ['item.E-mail', 'item']],
    ['$lookup(item, item.key)', ['item', 'item.key']],
    ['$field("Email", "E-mail")', ['$field Email|E-mail']],
    ['$eventDate(item.createdAt)', ['pigeonhole.timezone', 'item.createdAt']],
    ['item ~> |options|{ "b": rank }|', ['item']],
    ['$match(item.t, /a|b/).match', ['item.t']],
    ['Email', []],
    ['$item.Email', []],
    ['change.pigeonholeId', ['change.pigeonholeId']],
  ])('in %s are %j', (text, expected) => {
    expect(mentionedFields(new Expression(text)).map(inWords).toSorted()).toEqual(expected.toSorted());
  });

  it('are each reported once', () => {
    expect(mentionedFields(new Expression('item.a & item.a & item.a'))).toHaveLength(1);
  });

  it('determine which lists must be joined', () => {
    const joins = (...texts: string[]): string[] => joinsOf(texts.map((text) => new Expression(text)));
    expect(joins('item.a', 'change.list')).toEqual([]);
    expect(joins('session.name', '$field("Email")')).toEqual(['attendees', 'sessions']);
    expect(joins('$hubspotDate(item.at)', 'attendee.id')).toEqual(['attendees', 'pigeonholes']);
  });
});

describe('the expressions in settings', () => {
  it('are found with their keys and lists, in any position', () => {
    const [email, when, actor] = ['item.Email', 'item.a', 'attendee.id'].map((text) => new Expression(text));
    const settings = {
      token: new Secret('x'),
      actor: { name: actor },
      records: [{ from: 'attendees', properties: { 'e mail': { value: email, write: 'always' } }, when }],
    };
    expect(expressionsIn(settings)).toEqual([
      { expression: actor, key: 'actor.name', from: undefined },
      { expression: email, key: 'records[0].properties["e mail"].value', from: 'attendees' },
      { expression: when, key: 'records[0].when', from: 'attendees' },
    ]);
  });
});

describe('the functions that are known when an expression is compiled', () => {
  it('are exactly those that JSONata binds', () => {
    const source = readFileSync(require.resolve('jsonata'), 'utf8');
    const bound = [...source.matchAll(/(?:staticFrame|environment)\.bind\('(\w+)', defineFunction/g)].map(
      ([, name]) => name!,
    );
    expect(jsonataFunctions.toSorted()).toEqual([...new Set(bound)].toSorted());
  });
});
