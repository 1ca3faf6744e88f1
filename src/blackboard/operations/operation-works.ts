import { Injectable } from '@nestjs/common';

import type { OperationKind } from '../../database/schema.js';
import { FailWork } from './fail-work.js';
import type { OperationWork } from './operation.js';
import { RetryWork } from './retry-work.js';

/** Finds the work of each kind of operation. */
@Injectable()
export class OperationWorks {
  private readonly byKind: Record<OperationKind, OperationWork>;

  constructor(retry: RetryWork, fail: FailWork) {
    this.byKind = { retry, fail };
  }

  of(kind: OperationKind): OperationWork {
    return this.byKind[kind];
  }
}
