// The baseline: a bare Nest and Express app with this project's validation pipe, whose one route receives the body of a
// publish and answers it. Decorators are called by hand, because Node strips types and knows no decorators.
import 'reflect-metadata';

import { Body, Controller, HttpCode, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

type ArtifactsDto = typeof import('../src/features/artifacts/dto/publish-request.js');
type Pipe = typeof import('../src/http/validation/validation-pipe.js');

const built = (file: string): Promise<unknown> => import(new URL(`../dist/${file}`, import.meta.url).href);
const { PublishRequest } = (await built('features/artifacts/dto/publish-request.js')) as ArtifactsDto;
const { ValidationPipe } = (await built('http/validation/validation-pipe.js')) as Pipe;

class EchoController {
  echo(body: object): object {
    return body;
  }
}
Controller()(EchoController);
const route = Object.getOwnPropertyDescriptor(EchoController.prototype, 'echo')!;
Post('echo')(EchoController.prototype, 'echo', route);
HttpCode(200)(EchoController.prototype, 'echo', route);
Body()(EchoController.prototype, 'echo', 0);
Reflect.defineMetadata('design:paramtypes', [PublishRequest], EchoController.prototype, 'echo');

class EchoModule {}
Module({ controllers: [EchoController] })(EchoModule);

const app = await NestFactory.create(EchoModule, { logger: ['error'] });
app.useGlobalPipes(new ValidationPipe());
await app.listen(0, '127.0.0.1');
console.log(await app.getUrl());
