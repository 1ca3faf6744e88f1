// Uses the package as npm makes it and the build of the image, in new folders, and the program in them as a process.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { describeInBrowser } from '../../support/browser.js';
import { builtProgram } from '../../support/built-program.js';
import { Service } from '../../support/service.js';

const CONFIG = resolve('examples/support-desk/starling.yaml');

let folder: string;
beforeEach(async () => {
  await builtProgram();
  folder = mkdtempSync(join(tmpdir(), 'starling-packaged-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Starts the program of a folder, and returns the types of the answers to its page and the files that the page names. */
async function servedBy(program: string): Promise<Record<string, string | null>> {
  const service = await Service.run([
    join(program, 'bin/starling.js'),
    ...['serve', '--port', '0', '--config', CONFIG, '--database-url', `sqlite:${join(folder, 'board.db')}`],
  ]);
  try {
    const page = await fetch(`${service.url}/dashboard/`);
    const names = [...(await page.text()).matchAll(/(?:src|href)="\.\/(assets\/[^"]+)"/g)].map(([, name]) => name!);
    const answers = await Promise.all(names.map((name) => fetch(`${service.url}/dashboard/${name}`)));
    return Object.fromEntries(
      [page, ...answers].map(({ status, headers }, index) => [
        names[index - 1]?.replace(/-[\w-]{8}\./, '.') ?? 'page',
        `${status} ${headers.get('content-type')}`,
      ]),
    );
  } finally {
    await service.kill('SIGTERM');
  }
}

const SERVED = {
  page: '200 text/html; charset=utf-8',
  'assets/index.js': '200 text/javascript; charset=utf-8',
  'assets/index.css': '200 text/css; charset=utf-8',
};

describe('the dashboard', () => {
  it('is served by the package of `npm pack`', async () => {
    const [{ filename }] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string }];
    execFileSync('tar', ['xf', filename], { cwd: folder });
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    expect(await servedBy(join(folder, 'package'))).toMatchObject(SERVED);
  });

  it('is built by the recipe of the Dockerfile, from the files that it copies', async () => {
    const app = join(folder, 'app');
    mkdirSync(app);
    const [recipe] = readFileSync('Dockerfile', 'utf8').split(/^FROM .* AS dependencies$/m);
    const copied = [...recipe!.matchAll(/^COPY (.+)$/gm)].map(([, list]) => list!.split(' '));
    for (const [...sources] of copied) {
      const target = sources.pop()!;
      for (const source of sources)
        cpSync(source, join(app, sources.length === 1 && !target.endsWith('/') ? target : source), { recursive: true });
    }
    symlinkSync(resolve('node_modules'), join(app, 'node_modules'));
    const [build] = [...recipe!.matchAll(/^RUN (npm run .+)$/gm)].map(([, command]) => command!);
    execFileSync('sh', ['-e', '-c', build!], { cwd: app, stdio: 'pipe' });
    cpSync('bin', join(app, 'bin'), { recursive: true });
    expect(await servedBy(app)).toMatchObject(SERVED);
  });
});

describeInBrowser('the pictures of the documentation', () => {
  it('are made by `npm run pictures`, from the examples', () => {
    execFileSync(process.execPath, ['dashboard/pictures.ts', folder], { stdio: 'pipe' });
    expect(existsSync('docs/pictures')).toBe(true);
    expect(readdirSync(folder).sort()).toEqual(readdirSync('docs/pictures').sort());
  });
});
