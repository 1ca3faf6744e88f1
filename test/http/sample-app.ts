import 'reflect-metadata';

import { Body, Controller, Get, HttpCode, Module, Param, Post, Query, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Type } from 'class-transformer';
import { IsArray, IsNumber, IsObject, IsOptional, IsString, Max, Min, ValidateNested } from 'class-validator';
import type { Request, Response } from 'express';
import { pino } from 'pino';

import { type Clock, SystemClock } from '../../src/common/clock.js';
import { DomainError } from '../../src/common/domain-error.js';
import type { JsonObject } from '../../src/common/json.js';
import { MemoryBudget } from '../../src/common/memory-budget.js';
import { Role } from '../../src/common/role.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import { type HttpEdge, installHttpEdge } from '../../src/http/http-edge.js';
import { takeCorrelationId } from '../../src/http/middleware/correlation-id.js';
import { IgnoresUnknownFields, Opaque } from '../../src/http/validation/field-rules.js';
import {
  QueryBoolean,
  QueryChoice,
  QueryInteger,
  QueryList,
  QueryText,
  QueryTimestamp,
} from '../../src/http/validation/query.js';
import { NoTracing } from '../../src/observability/tracing/tracing.js';

class Filters {
  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  type_names?: string[];
}

export class SampleBody {
  @IsString()
  type!: string;

  @IsOptional()
  @IsNumber()
  @Min(1)
  @Max(300)
  timeout?: number;

  @IsOptional()
  @IsObject()
  @Opaque()
  payload?: JsonObject;

  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => Filters)
  filters?: Filters;
}

@IgnoresUnknownFields()
class OlderBody {
  @IsString()
  type!: string;
}

class SampleQuery {
  @QueryInteger({ description: 'Page size', min: 1, max: 500, default: 50 })
  limit!: number;

  @QueryInteger({ description: 'Offset', min: 0, default: 0 })
  offset!: number;

  @QueryBoolean({ description: 'Meta', default: false })
  embed_meta!: boolean;

  @QueryTimestamp({ description: 'From' })
  from?: number;

  @QueryList({ description: 'Types', most: 2_000 })
  type?: string[];

  @QueryText({ description: 'Correlation' })
  correlation_id?: string;

  @QueryChoice({ description: 'Order', choices: ['asc', 'desc'], default: 'asc' })
  order!: string;
}

/** How many requests to /busy have begun, each of which takes 5 ms of the processor. */
let busyRequests = 0;

/** The types of the bodies that /echo got, in the order in which it got them. */
export const echoedTypes: string[] = [];

@Controller()
class SampleController {
  @Post('echo')
  @HttpCode(200)
  echo(@Body() body: SampleBody, @Req() request: Request, @Res({ passthrough: true }) response: Response): object {
    echoedTypes.push(body.type);
    return { body, class: body.constructor.name, correlationId: takeCorrelationId(request, response) ?? null };
  }

  @Post('older')
  @HttpCode(200)
  older(@Body() body: OlderBody): object {
    return { body, class: body.constructor.name };
  }

  /** The one path whose bodies the route reads itself. */
  @Post('run/batch')
  stalled(@Req() request: Request): Promise<void> {
    return new Promise((resolve) => void request.once('close', resolve));
  }

  @Get('busy')
  busy(): object {
    busyRequests += 1;
    const until = performance.now() + 5;
    while (performance.now() < until);
    return {};
  }

  @Get('health/live')
  live(): object {
    return { busyRequests };
  }

  @Get('query')
  query(@Query() query: SampleQuery): object {
    return query;
  }

  @Get('items/:id')
  item(@Param('id') id: string): object {
    return { id };
  }

  @Get('errors/:code')
  fail(@Param('code') code: string): never {
    if (code === 'bug') throw new TypeError('secret inside');
    if (code === 'full')
      throw new DomainError('unavailable', 'The disk is full', { cause: new Error('no space inside') });
    throw new DomainError(code as 'invalid', `It is ${code}`, code === 'unavailable' ? { retryAfterSeconds: 7 } : {});
  }
}

@Module({ controllers: [SampleController] })
export class SampleModule {}

/** The log entries, parsed. */
export interface SampleApp {
  app: NestExpressApplication;
  logLines: Record<string, unknown>[];
}

/** The edge on an HTTP server, before a controller that only echoes. */
export async function startSampleApp(
  overrides: Partial<HttpEdge['settings']> = {},
  {
    clock = new SystemClock(),
    memory = new MemoryBudget(64 * 1_048_576),
  }: { clock?: Clock; memory?: MemoryBudget } = {},
): Promise<SampleApp> {
  const app = await NestFactory.create<NestExpressApplication>(SampleModule, { bodyParser: false, logger: false });
  const logLines: Record<string, unknown>[] = [];
  const logger = pino(
    { level: 'debug' },
    { write: (line) => void logLines.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const settings = Object.assign(resolveSettings({ flags: {}, environment: {}, server: undefined }), overrides);
  installHttpEdge(app, {
    settings,
    clock,
    memory,
    role: new Role(),
    logger,
    tracing: new NoTracing(),
    onEnded: () => {},
  });
  await app.listen(0, '127.0.0.1');
  return { app, logLines };
}
