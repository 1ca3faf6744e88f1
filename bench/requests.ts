import { get, type LoadRequest, post } from './load.ts';

export const CONNECTIONS = 64;

const TEXT = { text: 'Where is parcel 4711? It was to arrive last week.' };
const NOTE = { type: 'Note', payload: TEXT, tags: ['channel:chat'] };

export const ECHO = [post('/echo', NOTE)];
export const PUBLISH = [post('/api/v1/artifacts', NOTE)];
export const SYNC_PUBLISH = [post('/api/v1/artifacts/sync', { type: 'Question', payload: TEXT })];
export const CHAIN = [post('/api/v1/artifacts/sync', { type: 'First', payload: TEXT })];
export const LIST = [get('/api/v1/artifacts')];

/** Each has been answered once before it is measured. */
export const REPLAY = Array.from({ length: CONNECTIONS }, (_, key) =>
  post('/api/v1/artifacts/sync', { type: 'Question', payload: TEXT }, { 'x-idempotency-key': `bench-${key}` }),
);

export async function artifactsById(url: string): Promise<LoadRequest[]> {
  const response = await fetch(`${url}/api/v1/artifacts?limit=${CONNECTIONS}`);
  const { items } = (await response.json()) as { items: { id: string }[] };
  return items.map(({ id }) => get(`/api/v1/artifacts/${id}`));
}
