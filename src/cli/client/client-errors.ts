/** What the person at the terminal can mend; the message is shown as it is. */
export class ClientError extends Error {
  override readonly name: string = 'ClientError';
}

/** The server answered with an error; its own words are the message. */
export class Refused extends ClientError {
  override readonly name = 'Refused';

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** No whole answer came. */
export class Unreachable extends ClientError {
  override readonly name: string = 'Unreachable';
}

/** The connection was there, and ended before the answer was whole: the server may have taken the request. */
export class AnswerLost extends Unreachable {
  override readonly name = 'AnswerLost';
}
