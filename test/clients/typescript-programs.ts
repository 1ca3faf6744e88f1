// Each program publishes a text to a server and prints what it reads back. Arguments: the address of the server, and the text.

export const OPENAPI_TYPESCRIPT_PROGRAM = `
import createClient from 'openapi-fetch';

import type { components, paths } from './api.js';

export const body: components['schemas']['SyncPublishRequest'] = README_BODY;

const [, , baseUrl, text] = process.argv;
const api = createClient<paths>({ baseUrl: baseUrl! });
const payload: components['schemas']['CustomerMessagePayload'] = { text: text! };
const sync = await api.POST('/api/v1/artifacts/sync', { body: { type: 'CustomerMessage', payload } });
const { correlation_id, artifacts } = sync.data!;
const routing = artifacts.find(({ type }) => type === 'Routing')!.payload as components['schemas']['RoutingPayload'];
const query = { correlation_id, type: ['CustomerMessage'] };
const { items } = (await api.GET('/api/v1/artifacts', { params: { query } })).data!;
const path = { artifact_id: items[0]!.id };
const message = (await api.GET('/api/v1/artifacts/{artifact_id}', { params: { path } })).data!;
console.log(JSON.stringify({ text: message.payload['text'], queue: routing.queue, produced_by: message.produced_by }));
`;

export const HEY_API_PROGRAM = `
import { client } from './client/client.gen.js';
import * as api from './client/sdk.gen.js';
import type { CustomerMessagePayload, RoutingPayload } from './client/types.gen.js';

const [, , baseUrl, text] = process.argv;
client.setConfig({ baseUrl: baseUrl! });
const throwOnError = true;
const payload: CustomerMessagePayload = { text: text! };
const { data } = await api.artifactsPublishAndWait({ body: { type: 'CustomerMessage', payload }, throwOnError });
const routing = data.artifacts.find(({ type }) => type === 'Routing')!.payload as RoutingPayload;
const query = { correlation_id: data.correlation_id, type: ['CustomerMessage'] };
const { items } = (await api.artifactsList({ query, throwOnError })).data;
const message = (await api.artifactsGet({ path: { artifact_id: items[0]!.id }, throwOnError })).data;
console.log(JSON.stringify({ text: message.payload['text'], queue: routing.queue, produced_by: message.produced_by }));
`;
