import { validate, version } from 'uuid';

import { newId } from '../../src/common/ids.js';

test('ids made one after another are UUIDs of version 7, all different, in order, and have the current time', () => {
  const began = Date.now();
  const ids = Array.from({ length: 20_000 }, newId);
  expect(ids.every((id) => validate(id) && version(id) === 7)).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect([...ids].sort()).toEqual(ids);
  const made = parseInt(ids.at(-1)!.replace('-', '').slice(0, 12), 16);
  expect(made).toBeGreaterThanOrEqual(began);
  expect(made).toBeLessThanOrEqual(Date.now());
});
