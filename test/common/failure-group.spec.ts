import { failureGroupOf, MAX_GROUP_MESSAGE } from '../../src/common/failure-group.js';

const messageOf = (text: string): string => failureGroupOf('agent', 'Error', text).message;

describe('the normalised message of a failure', () => {
  it.each([
    ['no order 4711 after 1.5 s', 'no order <number> after <number> s'],
    ['order-4711 took 30ms', 'order-<number> took <number>ms'],
    ['at 2026-11-20T10:00:00.120Z', 'at <number>-<number>-<number>T<number>Z'],
    ['no row 019a7f5e-0c9b-7d20-b1c5-3e4f5a6b7c80', 'no row <id>'],
    ['commit 9fceb02d0ae598e95dc970b74767f19372d61af8 is gone', 'commit <id> is gone'],
    ['session sess_8fK2jzQp has expired', 'session <id> has expired'],
    ['address 0xFF00', 'address <hex>'],
    ["can't find 'Sofa', \"Lamp 2\" or `x`", "can't find <value>, <value> or <value>"],
    ['{"code":"E7","at":12}', '{<value>:<value>,<value>:<number>}'],
    ['the model could\n  not be read ', 'the model could not be read'],
    ['utf8 and http2', 'utf<number> and http<number>'],
    ['127.0.0.1:9001 answered 401: sorry 42', '<number> answered 401: sorry <number>'],
    ['Request failed with status code 404', 'Request failed with status code 404'],
    ['HTTP 503, try 2', 'HTTP 503, try <number>'],
    ['host answered 4711 times', 'host answered <number> times'],
    ['exit status 1, answered 200.5 and 200:17', 'exit status <number>, answered <number> and <number>'],
    ['', ''],
  ])('of %j', (text, normalised) => expect(messageOf(text)).toBe(normalised));

  it('has a bounded length, and is text that a database can store', () => {
    const message = messageOf('ä🛋'.repeat(1_000));
    expect(message).toHaveLength(MAX_GROUP_MESSAGE);
    expect(message.isWellFormed()).toBe(true);
  });

  it.each(['"', "'", '`', 'a1', '1a', '0x', "' '", '1.', '\t', 'status 1', 'answered 12'])(
    'takes linear time for many of %j',
    (part) => {
      const text = part.repeat(2_000);
      // Other processes may hold up some of the tries.
      const times = [1, 2, 3].map(() => {
        const startedAt = performance.now();
        messageOf(text);
        return performance.now() - startedAt;
      });
      expect(Math.min(...times)).toBeLessThan(100);
    },
  );
});

it('a group has one agent, one error type and one normalised message, and its id is stable', () => {
  const { id } = failureGroupOf('quoter', 'Error', 'no price for "Sofa"');
  expect(id).toBe(failureGroupOf('quoter', 'Error', 'no price for "Lamp"').id);
  expect(id).toMatch(/^[\da-f]{32}$/);
  const others = [
    failureGroupOf('other', 'Error', 'no price for "Sofa"').id,
    failureGroupOf('quoter', 'TypeError', 'no price for "Sofa"').id,
    failureGroupOf('quoter', 'Error', 'no price'.concat(' for Sofa')).id,
  ];
  expect(new Set([id, ...others]).size).toBe(4);
});
