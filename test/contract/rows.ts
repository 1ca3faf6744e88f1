import type { Test } from 'supertest';

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
export const uuid = expect.stringMatching(UUID) as string;
export const timestamp = expect.stringMatching(TIMESTAMP) as string;

export const UNKNOWN_ID = '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80';

/** A request, and the status and body that answer it. */
export type Row = [rule: string, ask: () => Test, status: number, body: unknown];

/** The body of an error. */
export const detail = (text: string | RegExp): object => ({
  detail: typeof text === 'string' ? text : (expect.stringMatching(text) as string),
});

/** Adds one test for each row. */
export function check(rows: Row[]): void {
  it.each(rows)('%s', async (_rule, ask, status, body) => {
    const response = await ask();
    expect([response.status, response.body]).toEqual([status, body]);
    expect(response.headers['x-request-id']).toMatch(UUID);
    expect(response.headers['content-type']).toMatch(/^application\/json/);
  });
}
