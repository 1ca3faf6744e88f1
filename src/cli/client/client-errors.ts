/** An error that the user of the command can fix. The message is printed unchanged. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
}

/** The server answered with an error. The message is the one of the server. */
export class Refused extends ClientError {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** No complete answer arrived. */
export class Unreachable extends ClientError {
  override readonly name: string = 'Unreachable';
}

/** The connection ended before the answer was complete, so the server may have processed the request. */
export class AnswerLost extends Unreachable {
  override readonly name = 'AnswerLost';
}
