export interface Rate {
  perSecond: number;
  burst: number;
}

/** The units of a rate that have started and still count. They are never more than the burst, and become fewer at the rate. */
export class RateModel {
  private units = 0;
  private at = -Infinity;
  /** The fastest of the rates since `at`: it is not known when exactly the rate has changed. */
  private perSecond = 0;

  /** The units may start at another rate from a time on that is not earlier than this one (epoch ms). */
  change(rate: Rate, since: number | null): void {
    if (since !== null && since > this.at) this.passTo(since);
    this.units = Math.min(this.units, rate.burst);
    this.perSecond = Math.max(this.perSecond, rate.perSecond);
  }

  /** Starts units. Returns how many too many that are, or null if the rate has room for them. */
  start(units: number, rate: Rate, at: number): number | null {
    this.passTo(at);
    this.perSecond = rate.perSecond;
    // An attempt that costs more than the burst starts with all of it.
    this.units += Math.min(units, rate.burst);
    // The times are rounded.
    const tooMany = this.units - rate.burst - rate.perSecond / 1_000;
    return tooMany > 0 ? tooMany : null;
  }

  private passTo(at: number): void {
    if (this.at > -Infinity) this.units = Math.max(0, this.units - ((at - this.at) * this.perSecond) / 1_000);
    this.at = at;
  }
}
