import type { Readable } from 'node:stream';

import { Agent, type Dispatcher, FormData, request } from 'undici';

import type { JsonObject } from '../../common/json.js';
import { readEnvironment } from '../../config/environment.js';
import { serverUrl } from '../../config/resolve-settings.js';
import { AnswerLost, ClientError, Refused, Unreachable } from './client-errors.js';
import { programName } from './typed-command.js';

interface Answer<T> {
  body: T;
  headers: Record<string, string | string[] | undefined>;
}

type Request = Omit<Dispatcher.RequestOptions, 'path' | 'origin'>;

/** No time limit for answers: the import of a large file takes many minutes before the first byte of the answer. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Error codes of failed connections: no server has received the request. */
const NOT_CONNECTED = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

/** Time limit for a status request. A server that hangs counts as unavailable. */
const LOOK_LIMIT_MS = 10_000;

/** Client for a running server. Every call rejects with a ClientError; an aborted signal gives Unreachable. */
export class Server {
  /** `url`: without a trailing slash. */
  constructor(readonly url: string) {}

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const limit = AbortSignal.timeout(LOOK_LIMIT_MS);
    const { body } = await this.answerOf<T>(
      { method: 'GET', signal: signal ? AbortSignal.any([signal, limit]) : limit },
      path,
    );
    return body;
  }

  /** Sends JSON, or a form that is read from disk while it is sent. */
  post<T>(
    path: string,
    body: JsonObject | FormData | null,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Answer<T>> {
    const isJson = body !== null && !(body instanceof FormData);
    const content = isJson
      ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } }
      : { body, headers };
    return this.answerOf<T>({ method: 'POST', ...content, ...(signal && { signal }) }, path);
  }

  async put<T>(path: string, body: JsonObject): Promise<T> {
    const headers = { 'Content-Type': 'application/json' };
    return (await this.answerOf<T>({ method: 'PUT', body: JSON.stringify(body), headers }, path)).body;
  }

  async delete<T>(path: string): Promise<T> {
    return (await this.answerOf<T>({ method: 'DELETE' }, path)).body;
  }

  /**
   * The body of an answer as a stream. Its errors are connection errors. `longestSilenceMs`: without a byte for this
   * long, the connection counts as lost.
   */
  async stream(
    path: string,
    accept: string,
    signal: AbortSignal,
    { headers = {}, longestSilenceMs = 0 }: { headers?: Record<string, string>; longestSilenceMs?: number } = {},
  ): Promise<Readable> {
    const request = { method: 'GET', headers: { Accept: accept, ...headers }, signal, bodyTimeout: longestSilenceMs };
    return (await this.send(request as Request, path)).body;
  }

  /** Converts an error of a request, or of the body of its answer. */
  lost(error: unknown, method: string): ClientError {
    const { name, code, message } = error as { name: string; code?: unknown; message: string };
    if (name === 'NotReadableError')
      return new ClientError(
        'the file changed while it was sent, or can no longer be read; send it again when it no longer changes',
      );
    // The code of a DOMException is a meaningless number.
    const reason = typeof code === 'string' ? code : message;
    if (NOT_CONNECTED.includes(reason)) {
      return new Unreachable(
        `the server at ${this.url} cannot be reached (${reason}); start it with ${programName()} serve, or name another one with --url`,
      );
    }
    const doubt = method === 'POST' ? '; check whether it processed the request before you send it again' : '';
    return new AnswerLost(`the server at ${this.url} disconnected before its answer was complete (${reason})${doubt}`);
  }

  private async answerOf<T>(options: Request, path: string): Promise<Answer<T>> {
    const { body, headers } = await this.send(options, path);
    const text = await this.whole(body.text(), options);
    try {
      return { body: JSON.parse(text) as T, headers };
    } catch {
      throw new Refused(200, `the program at ${this.url} is not a Starling server: it answered ${start(text)}`);
    }
  }

  private async send(options: Request, path: string): Promise<Dispatcher.ResponseData> {
    const response = await this.whole(request(this.url + path, { ...options, dispatcher }), options);
    if (response.statusCode < 300) return response;
    throw new Refused(
      response.statusCode,
      detailOf(await this.whole(response.body.text(), options)) ??
        `the server at ${this.url} answered ${response.statusCode}`,
    );
  }

  private whole<T>(part: Promise<T>, { method }: Request): Promise<T> {
    return part.catch((error: unknown) => Promise.reject(this.lost(error, method)));
  }
}

/** The server's message, if the answer has one. */
function detailOf(text: string): string | undefined {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}

const start = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);

/** The server from `--url` or from the environment. Throws a SettingsError if that is not a URL. */
export const serverAt = (url: string | undefined): Server => new Server(serverUrl(url, readEnvironment()));
