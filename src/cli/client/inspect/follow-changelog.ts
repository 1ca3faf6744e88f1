import type { GapEntry, PublishedEntry } from '../../../features/changelog/entry.js';
import type { LiveEvent } from '../../../pubsub/live-event.js';
import { abortOnSigint } from '../abort-on-sigint.js';
import { type ClientOptions, connectionOf } from '../connection.js';
import { refuseUnknownNames } from '../known-names.js';
import { queryOf } from '../paging.js';
import type { Output } from '../printing/output.js';
import { cut } from '../printing/texts.js';
import { retryWhileUnavailable } from '../retry-while-unavailable.js';
import { EventStream } from './event-stream.js';
import { textOf } from './tail-text.js';

interface TailFilters {
  type?: string[];
  producedBy?: string[];
  correlationId?: string[];
  live?: true;
}

/** Prints what is published from now on, until Ctrl-C. Continues after a lost connection where it has stopped. */
export async function tail({ url, json, type: artifactType, ...filters }: ClientOptions & TailFilters): Promise<void> {
  const { server, output } = connectionOf({ url, json });
  await refuseUnknownNames(server, { ...(artifactType && { type: artifactType }), ...filters });
  const signal = abortOnSigint();
  const stream = new EventStream(server, `/api/v1/changelog/stream?${queryOf({ artifactType, ...filters })}`, signal);
  try {
    await stream.connect();
    if (output.isForPeople) output.hint(`following ${server.url}; Ctrl-C ends it`);
    for (;;) {
      const lost = await printAll(stream, output);
      output.hint(lost.message);
      await retryWhileUnavailable(
        () => stream.connect(),
        (line) => output.hint(line),
        signal,
      );
      output.hint('connected again; nothing is skipped');
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Returns the reason why the stream has ended. */
async function printAll(stream: EventStream, output: Output): Promise<Error> {
  for (;;) {
    const next = await stream.next();
    if (next instanceof Error) return next;
    if (next === null) continue;
    const event = next as PublishedEntry | GapEntry | LiveEvent;
    if (!output.isForPeople) await output.jsonLines([event]);
    else
      await output.lines([
        event.event_type === 'artifact_published'
          ? cut(textOf(event), output.width)
          : output.paint('dim', cut(textOf(event), output.width)),
      ]);
  }
}
