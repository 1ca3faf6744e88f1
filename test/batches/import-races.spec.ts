// Uses the application, its database, and CSV files and links on disk that change while they are opened.
import { mkdir, mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { ImportApp, inputsOf } from './import-app.js';

const ATTEMPTS = 1_500;

let taken: ImportApp;
let elsewhere: string;
const inside = (name: string): string => join(taken.root, name);

beforeAll(async () => {
  taken = await ImportApp.start();
  elsewhere = await mkdtemp(join(tmpdir(), 'starling-elsewhere-'));
  await writeFile(join(elsewhere, 'a.csv'), 'a\nsecret\n');
});
afterAll(async () => {
  await taken.close();
  await rm(elsewhere, { recursive: true });
});

async function swapFile(): Promise<void> {
  await writeFile(inside('next'), 'a\nopen\n');
  await rename(inside('next'), inside('swapped.csv'));
  await symlink(join(elsewhere, 'a.csv'), inside('next'));
  await rename(inside('next'), inside('swapped.csv'));
}

async function swapFolder(): Promise<void> {
  await mkdir(inside('real'), { recursive: true });
  await writeFile(inside('real/a.csv'), 'a\nopen\n');
  await rename(inside('real'), inside('swapped'));
  await rename(inside('swapped'), inside('real'));
  await symlink(elsewhere, inside('swapped'));
  await unlink(inside('swapped'));
}

it.each<[what: string, path: string, swap: () => Promise<void>]>([
  ['a file', 'swapped.csv', swapFile],
  ['a folder', 'swapped/a.csv', swapFolder],
])('%s that repeatedly becomes a link out of csv_root never lets in outside content', async (_what, path, swap) => {
  let swapping = true;
  const swaps = (async () => {
    while (swapping) await swap();
  })();
  const seen = new Set<string>();
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    seen.add(
      await taken.path(path).then(
        (rows) => JSON.stringify(inputsOf(rows)),
        (error: Error) => error.name,
      ),
    );
  }
  swapping = false;
  await swaps;
  expect([...seen].filter((outcome) => outcome !== '[{"a":"open"}]' && outcome !== 'DomainError')).toEqual([]);
});
