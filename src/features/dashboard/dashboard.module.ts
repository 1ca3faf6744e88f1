import { type DynamicModule, Module } from '@nestjs/common';

import { Role } from '../../common/role.js';
import { hasDashboard, type Settings } from '../../config/settings.js';
import { DashboardController } from './dashboard.controller.js';
import { DashboardFiles } from './dashboard-files.js';
import { StartPageController } from './start-page.controller.js';

/** Serves the web app if the settings ask for it. */
@Module({})
export class DashboardModule {
  static forRoot(settings: Settings, { api }: Role): DynamicModule {
    const isOn = api && hasDashboard(settings);
    return {
      module: DashboardModule,
      controllers: isOn ? [StartPageController, DashboardController] : [StartPageController],
      providers: isOn ? [DashboardFiles] : [],
    };
  }
}
