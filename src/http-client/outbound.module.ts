import { Module } from '@nestjs/common';

import { Outbound } from './outbound.js';

@Module({ providers: [Outbound], exports: [Outbound] })
export class OutboundModule {}
