import { deliveriesAddress, deliveryChoiceOf } from './delivery-choice.js';
import { routeOf } from './route.js';

const everything = {
  sink: 'crm & more',
  show: 'dead',
  outcome: null,
  reason: 'http:422',
  list: 'votes',
  pigeonhole: 'acme/101',
  period: null,
  open: 'acme/101/7/0',
} as const;

describe('the address of deliveries', () => {
  it('holds the whole choice', () => {
    const [hash] = [deliveriesAddress(everything)];
    expect(routeOf(hash)).toEqual({ page: 'deliveries', choice: everything });
  });

  it('is short for all attempts of a sink', () => {
    expect(deliveriesAddress({ sink: 'hooks', show: 'attempts', list: null })).toBe('#/deliveries/hooks');
  });

  it('shows the attempts if it names a list or a period that does not exist', () => {
    expect(deliveryChoiceOf('hooks', new URLSearchParams('show=all&period=1y'))).toMatchObject({
      show: 'attempts',
      period: null,
    });
  });
});
