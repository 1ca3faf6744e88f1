/** Publishes notes at a rate, to the service that is set, until it is stopped. */
export class Publisher {
  /** The correlation of each acknowledged publish. */
  readonly acknowledged: string[] = [];
  readonly failures: string[] = [];
  private readonly sent = new Set<Promise<void>>();
  private readonly timer: NodeJS.Timeout;
  private readonly startedAt = performance.now();
  private begun = 0;

  constructor(
    private readonly perSecond: number,
    private readonly nextUrl: () => string | undefined,
    private readonly nextCorrelation: () => string,
  ) {
    this.timer = setInterval(() => this.publishDue(), 10);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.sent);
  }

  private publishDue(): void {
    const due = ((performance.now() - this.startedAt) / 1_000) * this.perSecond;
    for (; this.begun < due; this.begun += 1) {
      const url = this.nextUrl();
      if (url === undefined || this.sent.size > 2 * this.perSecond) continue;
      const publish = this.publish(url, this.nextCorrelation()).finally(() => this.sent.delete(publish));
      this.sent.add(publish);
    }
  }

  private async publish(url: string, correlation: string): Promise<void> {
    try {
      const response = await fetch(`${url}/api/v1/artifacts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': correlation },
        body: '{"type":"Note","payload":{}}',
      });
      if (response.status === 200) this.acknowledged.push(correlation);
      else this.failures.push(`${response.status} ${await response.text()}`);
      await response.arrayBuffer().catch(() => undefined);
    } catch {
      // It may or may not be stored; the changelog shows it.
    }
  }
}
