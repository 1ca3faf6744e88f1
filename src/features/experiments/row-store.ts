import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { MOST_ROWS, MOST_TRIALS } from './dto/definition-schemas.js';
import { ExperimentRowsRepository, type NewRow } from './experiment-rows.repository.js';

const MIB = 1_024 * 1_024;
/** Each variant stores the inputs again, when its trials begin. */
const MOST_BYTES = 32 * MIB;

interface Limits {
  /** Only so many rows are stored. */
  limit: number;
  variants: number;
}

/** Stores the rows of an experiment in parts, so that memory and other writers do not depend on their number. */
@Injectable()
export class RowStore {
  constructor(
    private readonly lifecycle: Lifecycle,
    private readonly unitOfWork: UnitOfWork,
    private readonly rows: ExperimentRowsRepository,
  ) {}

  /** Returns the number of rows. Throws DomainError `invalid` if there are none or too many, and `unavailable`. */
  async store(seq: number, parts: AsyncIterable<NewRow[]>, { limit, variants }: Limits): Promise<number> {
    let stored = 0;
    let bytes = 0;
    for await (const all of parts) {
      if (this.lifecycle.stopping) throw STOPPING;
      const part = all.slice(0, limit - stored);
      bytes += part.reduce((sum, row) => sum + bytesOf(row), 0);
      refuseExcess(stored + part.length, bytes, variants);
      await this.unitOfWork.run((tx) => this.rows.insert(tx, seq, stored, part));
      stored += part.length;
      if (stored === limit) break;
    }
    if (stored === 0) throw new DomainError('invalid', 'data: has no rows; an experiment needs at least one');
    return stored;
  }
}

function refuseExcess(rows: number, bytes: number, variants: number): void {
  const most = Math.min(MOST_ROWS, Math.floor(MOST_TRIALS / variants));
  if (rows > most)
    throw new DomainError(
      'invalid',
      `data: has more than ${most} rows, which are the most for ${variants} variants; set data.limit, or use fewer variants`,
    );
  if (bytes > MOST_BYTES)
    throw new DomainError('invalid', `data: the rows take more than ${MOST_BYTES / MIB} MiB; set data.limit`);
}

const bytesOf = ({ inputs, expected }: NewRow): number =>
  Buffer.byteLength(inputs ?? '') + Buffer.byteLength(expected ?? '');

const STOPPING = new DomainError(
  'unavailable',
  'The service is stopping; send the experiment again after its next start',
);
