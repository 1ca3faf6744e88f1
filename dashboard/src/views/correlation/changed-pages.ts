import type { Schemas } from '../../api/requests';
import type { LiveEvent } from '../../live/messages';

type Trace = Schemas['TraceBody'];

/** Knows which pages of a trace may have changed since they were read, so that a refresh reads only these. */
export class ChangedPages {
  private readonly ids = new Set<string>();
  private isSettled = false;
  private refreshes = 0;

  /** `areAll`: pages were read before events were heard. */
  constructor(private areAll: boolean) {}

  happened(event: LiveEvent): void {
    if ('execution_id' in event && event.execution_id !== undefined) this.ids.add(event.execution_id);
    if (event.artifact_id !== undefined) this.ids.add(event.artifact_id);
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

const isOpen = ({ state }: Schemas['TracedExecutionBody']): boolean => state === 'pending' || state === 'running';
