import { checkExpression, expressionWarnings } from '../../src/cel/language/expression-check.js';

describe('checkExpression', () => {
  it.each(
    [
      'size(payload.text) > 3',
      'payload.items.exists(i, i.price > 10 && i.sku in inputs[0].payload.skus)',
      'type(payload.a) == string',
      'payload.text.matches("^a+$")',
      'strings.quote(payload.text)',
      'type(timestamp("2026-01-01T00:00:00Z")) == google.protobuf.Timestamp',
      '-9223372036854775808',
      `${'('.repeat(100)}payload.a${')'.repeat(100)}`,
      `"x"${' + payload.a'.repeat(200)}`,
      'payload.items.map(i, payload.items.map(j, i.a == j.a))',
    ].map((source) => [source.slice(0, 60), source]),
  )('accepts %s', (_start, source) => {
    expect(checkExpression(source)).toBeNull();
  });

  const refused: [source: string, message: string][] = [
    ['', 'is not valid CEL: it ends too early'],
    ['payload.a\n && && true', 'is not valid CEL at `&& && true`'],
    ['payloads.a', 'names the unknown variable payloads; did you mean payload?'],
    ['x > 3', 'names the unknown variable x; there are payload, artifact, inputs'],
    ['payload.items.all(i, i > 1) && i', 'names the unknown variable i; there are payload, artifact, inputs'],
    ['size(payload.a) > 3 && foo(payload.a)', 'calls the unknown function foo'],
    ['payload.items.exist(i, i > 1)', 'calls the unknown function exist; did you mean exists?'],
    ['payload.items.map(1, 2)', 'map() takes a name for the element and an expression, as in map(x, x != null)'],
    ['has(payload)', 'has() takes one field, as in has(payload.text)'],
    ['lowerAscii(payload.text)', 'calls lowerAscii in the wrong form; write x.lowerAscii(), not lowerAscii(x)'],
    ['payload.text.int()', 'calls int in the wrong form; write int(x), not x.int()'],
    ['size(payload.a, payload.b)', 'calls size with 2 arguments; it takes 1'],
    ['payload.a.substring(1, 2, 3)', 'calls substring with 3 arguments; it takes 1 or 2'],
    [
      'payload.text.matches("(")',
      'has a text that matches() does not accept, "(": error parsing regexp: missing closing ): `(`',
    ],
    [
      'duration("5 minutes")',
      'has a text that duration() does not accept, "5 minutes": Failed to parse duration: invalid syntax',
    ],
    ['payload.a == 9223372036854775808', 'has the integer 9223372036854775808, which does not fit into 64 bits'],
    ['acme.Order{}', 'makes a message of the unknown type acme.Order'],
    [`"${'x'.repeat(20_000)}"`, 'must not be longer than 16384 characters'],
    [`1${' + 1'.repeat(300)}`, 'must not nest deeper than 250 operations'],
    ['('.repeat(8_000), 'must not nest deeper than 250 operations'],
    ['['.repeat(300) + ']'.repeat(300), 'must not nest deeper than 250 operations'],
  ];
  it.each(refused.map(([source, message]) => [source.slice(0, 60), source, message]))(
    'refuses %s',
    (_start, source, message) => {
      expect(checkExpression(source)?.message).toBe(message);
    },
  );
});

describe('expressionWarnings', () => {
  const mixtures: [source: string, mixture: string, advice: string][] = [
    ['payload.a + 1', 'payload.a + 1', 'payload.a + 1.0'],
    ['2 * (payload.a + payload.b) > 3', '2 * (payload.a + payload.b)', '2.0 * (payload.a + payload.b)'],
    ['-payload.a - 3u', '-payload.a - 3u', '-payload.a - 3.0'],
    ['payload.a % 2 == 0', 'payload.a % 2', 'int(payload.a) % 2'],
    [
      'size(payload.items) * payload.price',
      'size(payload.items) * payload.price',
      'double(size(payload.items)) * payload.price',
    ],
    ['payload.items.map(i, i.price / 2)', 'i.price / 2', 'i.price / 2.0'],
    ['artifact.version - 1', 'artifact.version - 1', 'artifact.version - 1.0'],
    ['inputs[0].payload.a + 1', 'inputs[0].payload.a + 1', 'inputs[0].payload.a + 1.0'],
    ['2 * 1.5', '2 * 1.5', '2.0 * 1.5'],
  ];
  it.each(mixtures)('warns of %s', (source, mixture, advice) => {
    expect(expressionWarnings(source).map(({ message }) => message)).toEqual([
      `${mixture} mixes a JSON number (a double) with an integer; write ${advice}`,
    ]);
  });

  it.each([
    'payload.a + 1.0',
    'payload.a > 1 && payload.b == 2',
    'size(payload.items) + 1',
    'int(payload.a) + 1',
    '[1, 2].map(x, x + 1)',
    'payload.items.exists_one(i, i == 1)',
    '"a" + payload.b',
    'payload.items[1]',
  ])('does not warn of %s', (source) => {
    expect(expressionWarnings(source)).toEqual([]);
  });
});
