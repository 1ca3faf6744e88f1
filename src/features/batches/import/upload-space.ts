import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { isUnavailable } from '../../../common/domain-error.js';
import { MemoryBudget, type MemoryReservation } from '../../../common/memory-budget.js';
import { Settings } from '../../../config/settings.js';

/** A list in JSON is no larger, unless body_limit is. */
const SMALL_BYTES = 32 * 1_024 * 1_024;

const REFUSAL = 'The service has no space for this upload now; try again later';

/** Bytes of a temporary file. */
export interface FileSpace {
  readonly held: MemoryReservation;
  /** Since when it arrives (epoch ms). */
  readonly began: number;
  /** Gives its bytes back, and answers its request with the error. */
  readonly refuse: (error: Error) => void;
}

/**
 * Bytes of the temporary files of this process, in which uploads and long lists wait until they are stored. Uploads leave an eighth to lists.
 * Where there is no space for what arrives, the file that has held the most for the longest time is refused, of those that have not
 * arrived whole: a client that leaves uploads unfinished does not keep others out.
 */
@Injectable()
export class UploadSpace extends MemoryBudget {
  private readonly arriving = new Set<FileSpace>();

  constructor(
    { uploadSpaceBytes }: Settings,
    private readonly clock: Clock,
  ) {
    super(uploadSpaceBytes, SMALL_BYTES, REFUSAL);
  }

  /** For a file whose bytes begin to arrive. */
  begin(refuse: (error: Error) => void): FileSpace {
    const file = { held: this.reserve(0), began: this.clock.now(), refuse };
    this.arriving.add(file);
    return file;
  }

  /** DomainError `unavailable` where there is no space, and no other file has held more for longer; then it has been refused. */
  grow(file: FileSpace, bytes: number): void {
    for (;;) {
      try {
        return file.held.grow(bytes);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        const worst = this.worst() ?? file;
        this.arrived(worst);
        worst.refuse(error as Error);
        if (worst === file) throw error;
      }
    }
  }

  /** It is not refused any more. Idempotent. */
  arrived(file: FileSpace): void {
    this.arriving.delete(file);
  }

  private worst(): FileSpace | undefined {
    const now = this.clock.now();
    const harm = ({ held, began }: FileSpace): number => held.bytes * (now - began + 1);
    return [...this.arriving].sort((one, other) => harm(other) - harm(one))[0];
  }
}
