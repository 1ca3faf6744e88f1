import type { Kind, LoadRequest } from './requests.js';

export interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
  replayed: boolean;
}

/** The test's record of what it sent and of the answers. */
export class LoadLedger {
  readonly sent = new Map<LoadRequest, Answer | null>();
  /** Answers of cancels, by the run's id; null if there was none. */
  readonly cancels = new Map<string, number | null>();
  /** Answers that no fault excuses. */
  readonly wrong: string[] = [];
  refused = 0;
  replays = 0;
  private readonly fresh = new Map<LoadRequest, number>();

  /** Keeps the first success; every later one must equal it byte for byte. */
  note(request: LoadRequest, answer: Answer | null): void {
    const first = this.sent.get(request) ?? null;
    this.sent.set(request, first ?? (answer?.status === 200 ? answer : null));
    if (!answer) return;
    if (answer.status === 200) this.checkReplay(request, first ?? answer, answer);
    if (answer.status === 503) this.refused += 1;
    this.checkRefusal(`${request.kind}-${request.n}`, answer, [200]);
  }

  noteCancel(id: string, answer: Answer | null): void {
    this.cancels.set(id, answer?.status ?? null);
    // 409: it has finished.
    if (answer) this.checkRefusal(`cancel of ${id}`, answer, [200, 409]);
  }

  acknowledged(kind: Kind): [LoadRequest, Answer][] {
    return [...this.sent].filter(
      (entry): entry is [LoadRequest, Answer] => entry[0].kind === kind && entry[1] !== null,
    );
  }

  /** Requests with a key that have no success yet. */
  open(): LoadRequest[] {
    return [...this.sent].filter(([{ key }, answer]) => key !== null && answer === null).map(([request]) => request);
  }

  keyed(): LoadRequest[] {
    return [...this.sent.keys()].filter(({ key }) => key !== null);
  }

  // Either of two parallel requests may be the first to be answered.
  private checkReplay(request: LoadRequest, first: Answer, again: Answer): void {
    if (again.replayed) this.replays += 1;
    else this.fresh.set(request, (this.fresh.get(request) ?? 0) + 1);
    if ((this.fresh.get(request) ?? 0) > 1)
      this.wrong.push(`${request.key} was done twice, said its answers: ${first.text} and ${again.text}`);
    if (again.text !== first.text)
      this.wrong.push(`${request.key} was answered differently: ${first.text} and ${again.text}`);
  }

  private checkRefusal(what: string, { status, text, retryAfter }: Answer, expected: number[]): void {
    if (expected.includes(status)) return;
    if (status !== 503) this.wrong.push(`${what} was answered ${status}: ${text}`);
    else if (retryAfter === null) this.wrong.push(`${what} was refused without Retry-After: ${text}`);
  }
}
