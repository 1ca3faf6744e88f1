import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { shown } from '../../common/short-text.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { DefinitionsRepository } from './definitions.repository.js';
import type { DefinitionBody } from './dto/definition-body.js';

type Stored = Pick<DefinitionBody, 'options' | 'schemas' | 'files' | 'packages'>;

@Injectable()
export class DefinitionsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly definitions: DefinitionsRepository,
  ) {}

  /** Throws DomainError `not_found`. */
  async get(digest: string): Promise<DefinitionBody> {
    const row = await this.definitions.find(this.unitOfWork.reader, digest);
    if (!row) throw new DomainError('not_found', `Definition not found: ${shown(digest)}`);
    const { options, schemas, files, packages } = JSON.parse(row.definition) as Stored;
    return {
      digest: row.digest,
      agent: row.agent,
      first_used_at: toTimestamp(row.first_used_at),
      options,
      schemas,
      files,
      packages,
    };
  }
}
