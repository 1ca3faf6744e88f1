import createClient from 'openapi-fetch';

import { API_BASE } from '../base';
import type { paths } from './schema';

/** The API, with the types of its OpenAPI document. Pass its promises to `answered`. */
export const api = createClient<paths>({ baseUrl: API_BASE });

/** The service refused a request, or did not answer it. The message is the server's `detail`. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** 0 if there was no answer. */
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

interface Exchange<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The message if a request for something to show gets no answer: the live connection repeats it. */
export const READ_AGAIN = 'The service does not answer. The app tries again by itself.';

const PERHAPS_DONE =
  'The service does not answer. It may have done this; look when it is back, and try again if it has not.';

/**
 * Returns the body of a successful answer. Rejects with an ApiError otherwise, with the message `unanswered` if there is no
 * answer.
 */
export async function answered<T>(exchange: Promise<Exchange<T>>, unanswered = PERHAPS_DONE): Promise<T> {
  const { data, error, response } = await exchange.catch((cause: unknown) => {
    if ((cause as Error).name === 'AbortError') throw cause;
    throw new ApiError(0, unanswered);
  });
  if (!response.ok) throw new ApiError(response.status, detailOf(error) ?? `${response.status} ${response.statusText}`);
  return data as T;
}

function detailOf(body: unknown): string | undefined {
  const { detail } = (typeof body === 'object' && body !== null ? body : {}) as { detail?: unknown };
  return typeof detail === 'string' ? detail : undefined;
}
