import { Module } from '@nestjs/common';

import { DatabaseModule } from '../../database/database.module.js';
import { KeyShares } from './key-shares.js';

@Module({ imports: [DatabaseModule], providers: [KeyShares], exports: [KeyShares] })
export class FairnessModule {}
