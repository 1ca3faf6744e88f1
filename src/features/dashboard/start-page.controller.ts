import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';

import { hasDashboard, Settings } from '../../config/settings.js';
import { ApiExcludeController } from '../../http/openapi/documentation.js';

/** Sends browsers from `/` to the page that this service has for people. */
@ApiExcludeController()
@Controller()
export class StartPageController {
  constructor(private readonly settings: Settings) {}

  @Get()
  redirect(@Res() response: Response): void {
    // Relative, because a proxy may serve this under a prefix.
    response.setHeader('Location', hasDashboard(this.settings) ? 'dashboard' : 'docs');
    response.status(302).end();
  }
}
