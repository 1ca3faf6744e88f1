import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import type { DefinitionsTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

@Injectable()
export class DefinitionsRepository {
  find(db: Reader, digest: string): Promise<Selectable<DefinitionsTable> | undefined> {
    return db.selectFrom('definitions').selectAll().where('digest', '=', digest).executeTakeFirst();
  }
}
