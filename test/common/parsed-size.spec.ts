// Compares the estimate of a parsed JSON text's size with the memory that V8 takes for it, measured on a megabyte of
// each kind.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

import { parsedSize } from '../../src/common/parsed-size.js';

const MIB = 1_024 * 1_024;

const listOf = (item: (index: number) => string): string => {
  const items: string[] = [];
  for (let size = 0; size < MIB; size += items.at(-1)!.length + 1) items.push(item(items.length));
  return `[${items.join()}]`;
};

/** Returns the bytes of the parsed value, measured in a process with no other data. */
const measured = (text: string): number =>
  Number(
    execFileSync(process.execPath, ['--expose-gc', join(import.meta.dirname, 'parsed-memory.js')], {
      input: text,
      encoding: 'utf8',
    }),
  );

it.each([
  ['empty objects', () => '{}'],
  ['empty lists', () => '[]'],
  ['lists of one', () => '[0]'],
  ['lists of lists', () => '[[]]'],
  ['lists of an object', () => '[{}]'],
  ['numbers beyond small integers', () => '-0'],
  ['objects with different keys', (index: number) => `{"${index.toString(36)}":0}`],
  ['objects with a key that is an index', () => '{"30":0}'],
  ['the same with a blank', () => '{"30" :0}'],
  ['objects with a small index', () => '{"9":{}}'],
  ['texts', (index: number) => `"${index.toString(36)}"`],
])('the estimate for %s is not far below their real size', (_name, item) => {
  const text = listOf(item);
  expect(measured(text)).toBeLessThan(1.3 * parsedSize(Buffer.from(text)));
});

it.each([
  ['a text', `{"text":"${'words that a customer wrote, and more: {[]}. '.repeat(20_000)}"}`],
  ['escaped quotes', `{"text":"${'\\"{'.repeat(300_000)}"}`],
])('the estimate for %s does not count structure inside it', (_name, text) => {
  expect(parsedSize(Buffer.from(text))).toBeLessThan(2.1 * text.length);
});

it('the estimate for rows of data is at most six times their text', () => {
  const rows = JSON.stringify(
    Array.from({ length: 10_000 }, (_, index) => ({
      index,
      name: `customer ${index}`,
      text: 'some words that a customer wrote',
    })),
  );
  expect(parsedSize(Buffer.from(rows))).toBeLessThan(6 * rows.length);
});

it('a text that was cut off is measured too', () => {
  expect(parsedSize(Buffer.from(`${' '.repeat(2_000)}"\\`))).toBe(2 * 2_002);
});
