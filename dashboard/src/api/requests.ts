import type { ParamsOption } from 'openapi-fetch';
import type { PathsWithMethod } from 'openapi-typescript-helpers';

import { API_BASE } from '../base';
import { answered, api, READ_AGAIN } from './client';
import type { components, paths } from './schema';

export type Schemas = components['schemas'];

/** A path of the API that answers GET. */
export type GetPath = PathsWithMethod<paths, 'get'>;

/** The `query` and `path` parameters of a GET. */
export type GetParams<P extends GetPath> = Omit<
  NonNullable<ParamsOption<paths[P]['get']>['params']>,
  'header' | 'cookie'
>;

export type GetQuery<P extends GetPath> = GetParams<P> extends { query?: infer Q } ? NonNullable<Q> : never;

/** The body of the answer to a GET. */
export type Answer<P extends GetPath> = paths[P]['get'] extends {
  responses: { 200: { content: { 'application/json': infer T } } };
}
  ? T
  : never;

/** A request in the form that `curlText` shows. */
export interface ShownRequest {
  method?: 'GET' | 'POST';
  path: string;
  params?: { path?: object; query?: object };
  headers?: Record<string, string>;
  body?: unknown;
  /** A form: the names of files by field, and texts by field. */
  form?: { files: Record<string, string>; texts: Record<string, string> };
}

/** Rejects with an ApiError. */
export function get<P extends GetPath>(path: P, params?: GetParams<P>, signal?: AbortSignal): Promise<Answer<P>> {
  // The relation between a generic path and its parameters is beyond the compiler.
  const send = api.GET as (path: string, init: object) => ReturnType<typeof api.GET>;
  const exchange = send(path, { params: { ...params, query: given(params) }, signal });
  return answered(exchange, READ_AGAIN) as Promise<Answer<P>>;
}

/** Empty filters are not sent. */
function given(params: object | undefined): object {
  const { query = {} } = (params ?? {}) as { query?: object };
  return Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined && value !== '' && !isEmptyList(value)),
  );
}

const isEmptyList = (value: unknown): boolean => Array.isArray(value) && value.length === 0;

export function urlOf({ path, params = {} }: ShownRequest): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params.path as Record<string, unknown> | undefined)?.[name] ?? '')),
  );
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given(params))) {
    for (const one of [value].flat() as unknown[]) query.append(name, String(one));
  }
  return `${API_BASE}${filled}${query.size > 0 ? `?${query}` : ''}`;
}

/** Returns the command that sends this request from a shell. */
export function curlText(request: ShownRequest): string {
  const parts = ['curl -s', quoted(urlOf(request))];
  for (const [name, value] of Object.entries(request.headers ?? {})) parts.push('-H', quoted(`${name}: ${value}`));
  for (const [name, file] of Object.entries(request.form?.files ?? {}))
    parts.push('-F', quoted(`${name}=@${quotedName(file)}`));
  // Unlike those of -F, the values have no special characters.
  for (const [name, text] of Object.entries(request.form?.texts ?? {}))
    parts.push('--form-string', quoted(`${name}=${text}`));
  if (request.body !== undefined)
    parts.push("-H 'Content-Type: application/json'", '-d', quoted(JSON.stringify(request.body)));
  else if (request.method === 'POST' && request.form === undefined) parts.push('-X POST');
  return parts.join(' ');
}

/** The name of a file for -F, where a comma or a semicolon ends a name without quotes. */
const quotedName = (file: string): string => `"${file.replaceAll(/["\\]/g, '\\$&')}"`;

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
