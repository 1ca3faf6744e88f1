import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { StoredDefinition } from '../../catalog/stored-definition.js';
import { Clock } from '../../common/clock.js';
import { preparedInsert } from '../../database/prepared.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

/** Stores the definitions of this process's agents, so that a digest of an execution leads to it. */
@Injectable()
export class DefinitionStore {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Stores those that are not stored yet. Call this before the process runs an agent. */
  async store(): Promise<void> {
    await this.add(
      [...this.catalog.definitions.values()].flatMap((definition) => [definition, ...definition.variants.values()]),
    );
  }

  /** Stores those of these that are not stored yet. */
  async add(definitions: readonly StoredDefinition[]): Promise<void> {
    const first_used_at = this.clock.now();
    const rows = definitions.map(({ digest, agent, definition }) => ({ digest, agent, definition, first_used_at }));
    await this.unitOfWork.run((tx) => insertDefinitions(tx.db, rows));
  }
}

const insertDefinitions = preparedInsert('definitions', ['digest', 'agent', 'definition', 'first_used_at'], {
  ifAbsent: true,
});
