import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, FormData, request } from 'undici';
import type { JsonObject } from '../../common/json.js';
import { AnswerLost, ClientError, Refused, Unreachable } from './client-errors.js';
import { programName } from './typed-command.js';

export interface Answer<T> {
  body: T;
  headers: Record<string, string | string[] | undefined>;
}

type Request = Omit<Dispatcher.RequestOptions, 'path' | 'origin'>;

/** Answers have no time limit of their own: a large file is taken in for many minutes before the first byte comes back. */
const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });

/** Codes of connections that were never made: the request has not been seen by any server. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];

/** How long a server may take to tell how something stands; one that hangs counts as away. */
const LOOK_LIMIT_MS = 10_000;

/** A running Starling. Every call rejects with a ClientError, Unreachable also where its signal was aborted. */
export class Server {
  /** `url`: without a slash at its end. */
  constructor(readonly url: string) {}

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    const limit = AbortSignal.timeout(LOOK_LIMIT_MS);
    const { body } = await this.answerOf<T>({ method: 'GET', signal: signal ? AbortSignal.any([signal, limit]) : limit }, path);
    return body;
  }

  /** Sends JSON, or a form that is read from disk as it goes. */
  post<T>(path: string, body: JsonObject | FormData | null, headers: Record<string, string> = {}, signal?: AbortSignal): Promise<Answer<T>> {
    const isJson = body !== null && !(body instanceof FormData);
    const content = isJson ? { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...headers } } : { body, headers };
    return this.answerOf<T>({ method: 'POST', ...content, ...(signal && { signal }) }, path);
  }

  /** The body of an answer as it comes. An error of the stream is the connection's. */
  async stream(path: string, accept: string, signal: AbortSignal): Promise<Readable> {
    return (await this.send({ method: 'GET', headers: { Accept: accept }, signal }, path)).body;
  }

  /** What an error of a request or of its answer's body means. */
  lost(error: unknown, method: string): ClientError {
    const { name, code, message } = error as { name: string; code?: unknown; message: string };
    if (name === 'NotReadableError') return new ClientError('the file changed while it was sent, or can no longer be read; send it again when it stays as it is');
    // A DOMException's code is a number that nobody knows.
    const reason = typeof code === 'string' ? code : message;
    if (NOT_CONNECTED.includes(reason)) {
      return new Unreachable(`the server at ${this.url} cannot be reached (${reason}); start it with ${programName()} serve, or name another one with --url`);
    }
    const doubt = method === 'POST' ? '; look whether it took the request before you send it again' : '';
    return new AnswerLost(`the server at ${this.url} went away before its answer was whole (${reason})${doubt}`);
  }

  private async answerOf<T>(options: Request, path: string): Promise<Answer<T>> {
    const { body, headers } = await this.send(options, path);
    const text = await this.whole(body.text(), options);
    try {
      return { body: JSON.parse(text) as T, headers };
    } catch {
      throw new Refused(200, `what answers at ${this.url} is no Starling server: ${start(text)}`);
    }
  }

  private async send(options: Request, path: string): Promise<Dispatcher.ResponseData> {
    const response = await this.whole(request(this.url + path, { ...options, dispatcher }), options);
    if (response.statusCode < 300) return response;
    throw new Refused(response.statusCode, detailOf(await this.whole(response.body.text(), options)) ?? `the server at ${this.url} answered ${response.statusCode}`);
  }

  private whole<T>(part: Promise<T>, { method }: Request): Promise<T> {
    return part.catch((error: unknown) => Promise.reject(this.lost(error, method)));
  }
}

/** The server's own words, where the answer has them. */
function detailOf(text: string): string | undefined {
  try {
    const { detail } = JSON.parse(text) as { detail?: unknown };
    return typeof detail === 'string' ? detail : undefined;
  } catch {
    return undefined;
  }
}

const start = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
