import { Module } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { DatabaseModule } from '../database/database.module.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import { SecretBox } from './secret-box.js';
import { findSecretKey } from './secret-key.js';

/** Injects the SecretBox, or null where there is no key. */
export const SECRET_BOX = Symbol('SecretBox');

/** StartError where the key cannot be had. */
function open(settings: Settings): SecretBox | null {
  const key = findSecretKey(settings);
  return key && new SecretBox(key);
}

@Module({
  imports: [DatabaseModule],
  // After the database: whoever holds that may make the key's file beside it.
  providers: [{ provide: SECRET_BOX, useFactory: (settings: Settings, _open: UnitOfWork) => open(settings), inject: [Settings, UnitOfWork] }],
  exports: [SECRET_BOX],
})
export class SecretsModule {}
