import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { Signals } from './signals.js';

@Module({ imports: [DatabaseModule], providers: [Signals], exports: [Signals] })
export class SignalsModule {}
