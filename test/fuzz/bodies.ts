import fc from 'fast-check';

import type { JsonValue } from '../../src/common/json.js';

/** The limit of the application under test, so that a body beyond it is less than a megabyte. */
export const BODY_LIMIT = 200_000;

type Damage = (text: string) => string | Buffer;

const BROKEN_UTF8 = Buffer.from([0x22, 0xff, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0x22]);

const LITERALS = [
  '1e999',
  'NaN',
  '-Infinity',
  '0x10',
  '01',
  "'a'",
  '"\\ud800"',
  '"\t"',
  '"\\u0000"',
  '[1,]',
  '/**/1',
  '1'.repeat(400),
];

const HEADS = [
  '{"__proto__":{"type":"Reply"},',
  '{"type":1,"type":"Reply",',
  '{"payload":{"constructor":{"prototype":{}}},',
];

const WHOLE: Damage[] = [
  () => '',
  () => '   ',
  (text) => text + text,
  (text) => `[${text}]`,
  (text) => `\ufeff${text}`,
  (text) => Buffer.from(text, 'utf16le'),
  (text) => '['.repeat(text.length),
  (text) => text + ' '.repeat(BODY_LIMIT),
];

/** The changes to a body's text once it is written. */
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.nat().map(
    (place): Damage =>
      (text) =>
        text.slice(0, place % (text.length + 1)),
  ),
  fc.tuple(fc.nat(), fc.string({ unit: 'binary', maxLength: 5 })).map(
    ([place, odd]): Damage =>
      (text) =>
        inserted(text, place, Buffer.from(odd)),
  ),
  fc.nat().map(
    (place): Damage =>
      (text) =>
        inserted(text, place, BROKEN_UTF8),
  ),
  fc.constantFrom(...LITERALS).map(
    (odd): Damage =>
      (text) =>
        `{"odd":${odd},${text.slice(1)}`,
  ),
  fc.constantFrom(...HEADS).map(
    (head): Damage =>
      (text) =>
        head + text.slice(1),
  ),
  fc.constantFrom(...WHOLE),
);

function inserted(text: string, place: number, odd: Buffer): Buffer {
  const at = place % (text.length + 1);
  return Buffer.concat([Buffer.from(text.slice(0, at)), odd, Buffer.from(text.slice(at))]);
}

/** Returns the bytes of a JSON body, nearly always unchanged. */
export const bytesOf = (values: fc.Arbitrary<JsonValue>): fc.Arbitrary<Buffer> =>
  fc.oneof(
    { weight: 7, arbitrary: values.map((value) => Buffer.from(JSON.stringify(value))) },
    {
      weight: 1,
      arbitrary: fc.tuple(values, damage).map(([value, spoil]) => Buffer.from(spoil(JSON.stringify(value)))),
    },
  );

const CONTENT_TYPES = [
  '',
  'APPLICATION/JSON; Charset="utf-8"',
  'application/json; charset=latin1',
  'application/json;;;',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'text/plain',
  'a'.repeat(3_000),
  '\u00ff',
];

const CONTENT_ENCODINGS = ['identity', 'gzip', 'br', 'deflate', 'zip', '', 'toString'];

/** Returns the headers that describe a body. */
export const contentHeaders: fc.Arbitrary<Record<string, string>> = fc
  .record({
    'Content-Type': fc.oneof(
      { weight: 15, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom(undefined, ...CONTENT_TYPES) },
    ),
    'Content-Encoding': fc.oneof(
      { weight: 40, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.constantFrom(...CONTENT_ENCODINGS) },
    ),
  })
  .map((headers) =>
    Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)),
  );
