import { Injectable } from '@nestjs/common';

import { Clock } from '../../../common/clock.js';
import { isUnavailable } from '../../../common/domain-error.js';
import { MemoryBudget, type MemoryReservation } from '../../../common/memory-budget.js';
import { Settings } from '../../../config/settings.js';

/** Maximum size of a JSON list, unless body_limit is larger. */
const SMALL_BYTES = 32 * 1_024 * 1_024;

const REFUSAL = 'The service has no space for this upload now; try again later';

/** The space of a temporary file. */
export interface FileSpace {
  readonly held: MemoryReservation;
  /** When its first bytes arrived (epoch ms). */
  readonly began: number;
  /** Frees its bytes, and answers its request with the error. */
  readonly refuse: (error: Error) => void;
}

/**
 * The space for temporary files of this process, which contain uploads and long lists until they are stored. Uploads
 * leave an eighth to lists. When the space is used up, the incomplete file with the largest product of bytes and age is
 * refused, so that a client with unfinished uploads cannot block others.
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

  /** Registers a file whose bytes begin to arrive. */
  begin(refuse: (error: Error) => void): FileSpace {
    const file = { held: this.reserve(0), began: this.clock.now(), refuse };
    this.arriving.add(file);
    return file;
  }

  /** Throws DomainError `unavailable` if there is no space and this file is the one to refuse. */
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

  /** Marks the file as complete, so that it cannot be refused any more. Idempotent. */
  arrived(file: FileSpace): void {
    this.arriving.delete(file);
  }

  private worst(): FileSpace | undefined {
    const now = this.clock.now();
    const harm = ({ held, began }: FileSpace): number => held.bytes * (now - began + 1);
    return [...this.arriving].sort((one, other) => harm(other) - harm(one))[0];
  }
}
