import type { Schemas } from '../../api/requests';
import type { LiveEvent } from '../../live/messages';

type Trace = Schemas['TraceBody'];

/** Knows which pages of a trace may have changed since they were read, so that a refresh reads only these. */
export class ChangedPages {
  /** The artifacts and executions that belong to the trace, as far as they are known. */
  private readonly own = new Set<string>();
  /** The ids in events since the pages were read. */
  private readonly ids = new Set<string>();
  private isSettled = false;
  private refreshes = 0;

  /** `areAll`: pages were read before events were heard. */
  constructor(
    private readonly correlationId: string,
    private areAll: boolean,
  ) {}

  /** Call this with the pages whenever they were read. */
  wereRead(pages: readonly Trace[]): void {
    for (const { artifacts, executions } of pages) for (const { id } of [...artifacts, ...executions]) this.own.add(id);
  }

  /** An execution of another correlation that takes an artifact of this one is in the trace, too. */
  readonly concerns = (event: LiveEvent): boolean => {
    // The text of a model changes no row.
    if (event.event_type === 'execution_output') return false;
    const ids = idsOf(event);
    const isOwn = event.correlation_id === this.correlationId || ids.some((id) => this.own.has(id));
    if (isOwn) for (const id of ids) this.own.add(id);
    return isOwn;
  };

  happened(event: LiveEvent): void {
    for (const id of idsOf(event)) this.ids.add(id);
    if (event.event_type === 'correlation_settled') this.isSettled = true;
  }

  /** Events are missing. */
  missed(): void {
    this.areAll = true;
  }

  /** New artifacts are on the last page. An execution is on the pages of its inputs and of its outputs. */
  readonly isKept = (page: Trace): boolean => {
    if (this.areAll || !page.truncated) return false;
    // A cancellation ends waiting executions without an event for each.
    if (this.isSettled && page.executions.some(isOpen)) return false;
    return ![...page.artifacts, ...page.executions].some(({ id }) => this.ids.has(id));
  };

  /** `read` reads the pages that are not kept. What happens meanwhile is left to the next refresh. */
  async refresh(read: () => Promise<void>): Promise<void> {
    const number = (this.refreshes += 1);
    const ids = [...this.ids];
    const { areAll, isSettled } = this;
    await read();
    // A later refresh has interrupted this one, and reads what both have to read.
    if (number !== this.refreshes) return;
    for (const id of ids) this.ids.delete(id);
    if (areAll) this.areAll = false;
    if (isSettled) this.isSettled = false;
  }
}

const idsOf = (event: LiveEvent): string[] =>
  [event.artifact_id, 'execution_id' in event ? event.execution_id : undefined].filter((id) => id !== undefined);

const isOpen = ({ state }: Schemas['TracedExecutionBody']): boolean => state === 'pending' || state === 'running';
