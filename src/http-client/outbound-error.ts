/** Why a request got no answer, in a sentence for people, which holds nothing of the URL but its host. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';

  constructor(
    message: string,
    /** The address may not be reached: without another configuration, another try would end alike. */
    readonly isRefused: boolean = false,
    /** For the log alone: it may tell what a name means inside. */
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Nothing was sent: clients' requests have taken what the host may be sent until then (epoch ms). */
export class HostFull extends OutboundError {
  constructor(
    host: string,
    readonly until: number,
  ) {
    super(`${host} is sent no more for now, by client_webhook_bytes_per_minute`);
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

/** Says in plain words what went wrong while calling `host`. */
export function asOutboundError(error: unknown, host: string): OutboundError {
  const found = outboundErrorIn(error);
  if (found) return found;
  const code = codeOf(error);
  const isNoHttp = (error as Error).name === 'HTTPParserError';
  const reason = isNoHttp ? 'its answer is no HTTP' : ((code && REASONS[code]) ?? (error as Error).message);
  return new OutboundError(`${host}: ${reason}`, false, error);
}

/** Among the causes of an error, which where several addresses were tried holds one for each. */
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
