import { address, type Route, routeOf } from './route.js';

const uuid = '8b0c6f3e-5d5b-4c0f-9a76-f1c7d2b3e410';

describe('an address of the page', () => {
  it.each<[string, Route]>([
    ['', { page: 'overview' }],
    ['#/', { page: 'overview' }],
    ['#/sync/acme/101', { page: 'pigeonhole', workspace: 'acme', id: '101' }],
    ['#/sink/crm', { page: 'sink', name: 'crm', part: null }],
    ['#/sink/crm?part=dead-letters', { page: 'sink', name: 'crm', part: 'dead-letters' }],
    ['#/imports', { page: 'imports' }],
    ['#/imports/7', { page: 'import', id: '7' }],
    ['#/imports/new', { page: 'new-import', pigeonhole: null }],
    ['#/item/votes/a%2Fb?pigeonhole=acme%2F101', { page: 'item', list: 'votes', key: 'a/b', pigeonhole: 'acme/101' }],
    ['#/item', { page: 'item', list: null, key: null, pigeonhole: null }],
    ['#/live', { page: 'live', list: null, pigeonhole: null }],
    ['#/live?list=votes&pigeonhole=acme%2F101', { page: 'live', list: 'votes', pigeonhole: 'acme/101' }],
    ['#/people', { page: 'people' }],
    ['#/person/acme/101/7', { page: 'person', workspace: 'acme', id: '101', attendee: '7' }],
    ['#/person/acme/101/x', { page: 'unknown' }],
    ['#/person/acme/101/7/more', { page: 'unknown' }],
    ['#/erasures/x', { page: 'unknown' }],
    ['#/statements/acme/101', { page: 'statements', workspace: 'acme', id: '101' }],
    ['#/statements/7', { page: 'statement', number: '7' }],
    ['#/statements/x', { page: 'unknown' }],
    ['#/ready/acme/101', { page: 'ready', workspace: 'acme', id: '101' }],
    ['#/workspace/acme', { page: 'workspace', name: 'acme' }],
    ['#/deletions', { page: 'deletions' }],
    ['#/configuration', { page: 'configuration' }],
    ['#/nothing', { page: 'unknown' }],
    ['#/sync/acme', { page: 'unknown' }],
    ['#/sync/acme/x', { page: 'unknown' }],
    ['#/sync/acme/-1', { page: 'unknown' }],
    ['#/ready/acme/1.5', { page: 'unknown' }],
    ['#/sync/acme/101/more', { page: 'unknown' }],
    ['#/sink/%E0%A4%A', { page: 'sink', name: '%E0%A4%A', part: null }],
  ])('%s names one page', (hash, route) => {
    expect(routeOf(hash)).toEqual(route);
  });

  it.each<[string, Route]>([
    [address.sink('a b/c', 'dead-letters'), { page: 'sink', name: 'a b/c', part: 'dead-letters' }],
    [address.pigeonhole('acme', 101), { page: 'pigeonhole', workspace: 'acme', id: '101' }],
    [address.statements('acme', 101), { page: 'statements', workspace: 'acme', id: '101' }],
    [address.statement(7), { page: 'statement', number: '7' }],
    [address.live({ list: null, pigeonhole: null }), { page: 'live', list: null, pigeonhole: null }],
    [address.live({ list: 'votes', pigeonhole: 'acme/101' }), { page: 'live', list: 'votes', pigeonhole: 'acme/101' }],
    [address.person('acme', 101, 7), { page: 'person', workspace: 'acme', id: '101', attendee: '7' }],
    [address.erasure(uuid), { page: 'erasure', id: uuid }],
    [address.ready('acme', 101), { page: 'ready', workspace: 'acme', id: '101' }],
    [address.item('votes', 'a/?#b', 'acme/101'), { page: 'item', list: 'votes', key: 'a/?#b', pigeonhole: 'acme/101' }],
    [address.newImport('acme/101'), { page: 'new-import', pigeonhole: 'acme/101' }],
  ])('%s is parsed to the page it was built for', (hash, route) => {
    expect(routeOf(hash)).toEqual(route);
  });
});
