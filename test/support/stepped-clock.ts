import type { Cancel } from '../../src/common/clock.js';
import { ManualClock } from './manual-clock.js';

/**
 * A manual clock that is also set, as an operator sets the clock of a machine: the time is another one from then on, and
 * alarms do not notice it, as those of the system's clock.
 */
export class SteppedClock extends ManualClock {
  private stepped = 0;

  override now(): number {
    return super.now() + this.stepped;
  }

  override at(time: number, callback: () => void): Cancel {
    let cancel: Cancel;
    const arm = (): void => {
      cancel = super.at(time - this.stepped, () => (this.now() < time ? arm() : callback()));
    };
    arm();
    return () => cancel();
  }

  step(ms: number): void {
    this.stepped += ms;
  }
}
