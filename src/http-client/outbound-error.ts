/** A request got no answer. The message is a sentence for people that contains no part of the URL except its host. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    message: string,
    /**
     * Whether the rules refuse the address. Unless the configuration changes, another try would fail in the same way.
     */
    readonly isRefused: boolean = false,
    /** It is only for the log, because it may reveal to which internal address a name resolves. */
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Nothing was sent, because clients' requests have used the host's limit until `until` (epoch ms). */
export class HostFull extends OutboundError {
  constructor(
    host: string,
    readonly until: number,
  ) {
    super(`${host} has reached client_webhook_bytes_per_minute`);
  }
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed before an answer came',
  UND_ERR_SOCKET: 'the connection was closed before an answer came',
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEDOUT: 'it could not be reached in time',
  UND_ERR_CONNECT_TIMEOUT: 'it could not be reached in time',
  EHOSTUNREACH: 'it cannot be reached from here',
  ENETUNREACH: 'it cannot be reached from here',
  UND_ERR_HEADERS_OVERFLOW: 'its answer has more than 16 KiB of headers',
};

/** Turns an error of a request to `host` into an OutboundError with a plain message. */
export function asOutboundError(error: unknown, host: string): OutboundError {
  const found = outboundErrorIn(error);
  if (found) return found;
  const code = codeOf(error);
  const isNoHttp = (error as Error).name === 'HTTPParserError';
  const reason = isNoHttp ? 'its answer is not valid HTTP' : ((code && REASONS[code]) ?? (error as Error).message);
  return new OutboundError(`${host}: ${reason}`, false, error);
}

/**
 * The first OutboundError among an error and its causes. If several addresses were tried, there is a cause for each.
 */
export function outboundErrorIn(error: unknown): OutboundError | undefined {
  if (error instanceof OutboundError) return error;
  if (error instanceof AggregateError) return error.errors.map(outboundErrorIn).find((found) => found !== undefined);
  return error instanceof Error && error.cause ? outboundErrorIn(error.cause) : undefined;
}

function codeOf(error: unknown): string | undefined {
  const { code, errors } = error as { code?: unknown; errors?: unknown[] };
  if (typeof code === 'string') return code;
  return errors?.[0] ? codeOf(errors[0]) : undefined;
}
