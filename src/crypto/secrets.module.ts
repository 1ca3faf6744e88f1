import { Module } from '@nestjs/common';

import { Settings } from '../config/settings.js';
import { DatabaseModule } from '../database/database.module.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import { SecretBox } from './secret-box.js';
import { findSecretKey } from './secret-key.js';

/** Injection token for the SecretBox; null if there is no key. */
export const SECRET_BOX = Symbol('SecretBox');

/** Throws a StartError if the key cannot be read or made. */
function open(settings: Settings): SecretBox | null {
  const key = findSecretKey(settings);
  return key && new SecretBox(key);
}

@Module({
  imports: [DatabaseModule],
  // Depends on the database: only the process that holds it may make the key's file next to it.
  providers: [
    {
      provide: SECRET_BOX,
      useFactory: (settings: Settings, _open: UnitOfWork) => open(settings),
      inject: [Settings, UnitOfWork],
    },
  ],
  exports: [SECRET_BOX],
})
export class SecretsModule {}
