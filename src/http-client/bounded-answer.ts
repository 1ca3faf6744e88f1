const MIB = 1_024 ** 2;

/**
 * MiB of an answer that its reader holds as a whole: an event of a stream of events, or an answer in JSON. The longest
 * answer of a model (see `metered-model.ts`) fits into it, even if each of its characters is escaped.
 */
export const LONGEST_PART_MIB = 8;
/** MiB of a stream in a provider's own format. Its parts cannot be told apart here. */
const LONGEST_STREAM_MIB = 32;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** More of an answer arrived than is read. The message is a sentence about the answer, without its server. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';
}

/**
 * Bounds the memory that the readers of an answer need, by its bytes after decompression. Reading an answer that
 * exceeds its bound rejects with AnswerTooLarge, and the connection is closed.
 */
export function boundedAnswer(answer: Response): Response {
  const { body, status, statusText, headers } = answer;
  if (!body) return answer;
  return new Response(body.pipeThrough(new TransformStream({ transform: bounding(answer) })), {
    status,
    statusText,
    headers: [...headers],
  });
}

type Transform = (bytes: Uint8Array, controller: TransformStreamDefaultController<Uint8Array>) => void;

function bounding({ ok, headers }: Response): Transform {
  const type = headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? '';
  if (ok && type === 'text/event-stream') return boundingEvents();
  if (ok && type !== 'application/json') return boundingAll(LONGEST_STREAM_MIB);
  return boundingAll(LONGEST_PART_MIB);
}

function boundingAll(mib: number): Transform {
  let length = 0;
  return (bytes, controller) => {
    length += bytes.length;
    if (length > mib * MIB) throw new AnswerTooLarge(`its answer is larger than ${mib} MiB`);
    controller.enqueue(bytes);
  };
}

/** An event ends with an empty line. */
function boundingEvents(): Transform {
  let length = 0;
  let isLineEmpty = true;
  return (bytes, controller) => {
    for (const byte of bytes) {
      if (byte === LINE_FEED) {
        length = isLineEmpty ? 0 : length + 1;
        isLineEmpty = true;
      } else {
        length += 1;
        isLineEmpty &&= byte === CARRIAGE_RETURN;
      }
      if (length > LONGEST_PART_MIB * MIB)
        throw new AnswerTooLarge(`an event of its answer is larger than ${LONGEST_PART_MIB} MiB`);
    }
    controller.enqueue(bytes);
  };
}

/** The AnswerTooLarge among an error and its causes. */
export function answerTooLargeIn(error: unknown): AnswerTooLarge | undefined {
  if (error instanceof AnswerTooLarge) return error;
  return error instanceof Error && error.cause ? answerTooLargeIn(error.cause) : undefined;
}
