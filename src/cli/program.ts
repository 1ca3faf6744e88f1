import { Command } from 'commander';
import { VERSION } from '../common/version.js';
import { addClientCommands } from './client/commands.js';
import { failing } from './failures.js';
import { addSettingOptions, settingFlags } from './setting-options.js';

const CONFIG_OPTION = '-c, --config <file>';

/**
 * The command line. Exits with 1 on a wrong one, and says what is wrong with it. Each command is imported when it is called:
 * the whole application takes half a second to load, which `--help` need not wait for.
 */
export function buildProgram(): Command {
  const program = new Command('starling')
    .description('Serves configured agents over HTTP, on a durable blackboard, and talks to a server that does.')
    .version(VERSION)
    .showHelpAfterError('(see --help)')
    // A misspelt `--webhook-secret=...` must not put the secret into a log.
    .configureOutput({ outputError: (text, write) => write(text.replace(/(--[^\s'=]+)=[^']*/, '$1')) });

  addSettingOptions(
    program
      .command('serve')
      .description('serve the configured agents until SIGTERM')
      .option(CONFIG_OPTION, 'configuration file (default: starling.yaml in the working directory)'),
  ).action(failing(async (options: Record<string, string>) => (await import('./serve.js')).serve({ config: options.config, flags: settingFlags(options) })));

  program
    .command('check')
    .description('check a configuration file: every mistake with its place, exit code 1 where there is one')
    .argument('<file>', 'configuration file')
    .action(failing(async (file: string) => (await import('./check.js')).check(file)));

  addSettingOptions(
    program.command('migrate').description('bring the database to the schema of this version; serve does so too').option(CONFIG_OPTION, 'configuration file'),
    ['database_url'],
  ).action(failing(async (options: Record<string, string>) => (await import('./migrate.js')).migrateDatabase(options.config, settingFlags(options))));

  addClientCommands(program);

  return program;
}
