import { nearestName } from '../../src/common/names-in-messages.js';

describe('the nearest name', () => {
  const known = ['CustomerMessage', 'Intent', 'Routing'];

  test.each([
    ['CustomerMesage', 'CustomerMessage'],
    ['customermessage', 'CustomerMessage'],
    ['Itnent', 'Intent'],
    ['Rooting', 'Routing'],
  ])('to %s is %s', (name, nearest) => expect(nearestName(name, known)).toBe(nearest));

  test.each(['', 'Xyz', 'WorkflowError', 'x'.repeat(1_000_000)])('to %.20s is none of them', (name) => {
    expect(nearestName(name, known)).toBeUndefined();
  });
});
