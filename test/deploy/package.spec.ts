import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { blocksOf, readMarkdown } from '../docs/markdown.js';
import { builtProgram } from '../support/built-program.js';

interface Manifest {
  name: string;
  version: string;
  bin?: Record<string, string>;
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  peerDependenciesMeta: Record<string, object>;
  devDependencies: Record<string, string>;
  scripts?: Record<string, string>;
}

const read = <T>(path: string): T => JSON.parse(readFileSync(path, 'utf8')) as T;

const importedBy = (files: string): Set<string> =>
  new Set(
    globSync(files).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/(?:from|import\()\s*'((?:@[\w.-]+\/)?[\w.-]+)[^']*'/g)].flatMap(
        ([, name]) => (name!.startsWith('.') ? [] : [name!]),
      ),
    ),
  );

/** The license of a package in the list of a bundle, without its heading; empty if there is none. */
function textIn(licenses: string, name: string): string {
  const entry = licenses.split(/^(?=## \S+ - \d)/m).find((one) => one.startsWith(`## ${name} - `));
  return (entry ?? '').split('\n').slice(1).join('\n').trim();
}

// Runs npm over this folder as it is installed. What it would pack is what a user's npm unpacks.
describe('the package', () => {
  const npm = (...args: string[]): unknown =>
    JSON.parse(execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));

  it('has a name that is free on npm, and the program starling, under the name of the package, too', () => {
    const { name, version, bin } = read<Manifest>('package.json');
    expect([name, Object.keys(bin!)]).toEqual(['starling-agents', ['starling', 'starling-agents']]);
    expect(read<Manifest>('package-lock.json')).toMatchObject({ name, version });
    expect(readMarkdown('docs/nest.md')).toContain(`${name}-${version}.tgz`);
  });

  it('bundles the package that would install a telemetry reporter, with an empty package in its place', async () => {
    // npm fails if another test builds the program meanwhile.
    await builtProgram();
    const stub = read<Manifest>('stubs/swagger-ui-dist/package.json');
    expect(read<Manifest>('node_modules/swagger-ui-dist/package.json')).toEqual(stub);
    expect([stub.scripts, stub.dependencies]).toEqual([undefined, undefined]);
    // Dependents would not accept another version, and npm would fetch the real one.
    expect(read<Manifest>('node_modules/@nestjs/swagger/package.json').dependencies['swagger-ui-dist']).toBe(
      stub.version,
    );

    const [{ bundled, files, unpackedSize }] = npm('pack', '--dry-run', '--json', '--ignore-scripts') as [
      { bundled: string[]; files: { path: string }[]; unpackedSize: number },
    ];
    // The program takes 8 MB of it, what other programs import 4 MB, and the web app with its compressed forms 2 MB.
    expect(unpackedSize).toBeLessThan(30e6);
    const paths = files.map(({ path }) => path);
    expect(bundled).toEqual(expect.arrayContaining(['@nestjs/swagger', 'swagger-ui-dist']));
    expect(paths.filter((path) => /node_modules\/(swagger-ui|@scarf)/.test(path))).toEqual([
      'node_modules/swagger-ui-dist/package.json',
    ]);
    const built = paths.filter((path) => /^dist\/(?!dashboard|page-files).*\.(js|map)$/.test(path));
    expect(built).toEqual(
      expect.arrayContaining(
        ['bundle/evaluation-entry', 'bundle/ordered-process', 'bundle/program', 'library/index', 'library/testing'].map(
          (name) => `dist/${name}.js`,
        ),
      ),
    );
    expect(built.filter((path) => !/^dist\/(bundle|library)\/[\w-]+\.js$/.test(path))).toEqual([]);
  });

  it('has the licenses of the files that it serves to browsers', () => {
    const packages = readdirSync('dist/page-files');
    expect(packages).toEqual(['redoc', 'swagger-ui-files']);
    for (const name of packages) {
      const files = globSync('**/*.*', { cwd: `dist/page-files/${name}` });
      expect(readdirSync(`dist/page-files/${name}`)).toContain('LICENSE');
      for (const file of files.filter((path) => path.endsWith('.js'))) expect(files).toContain(`${file}.LICENSE.txt`);
    }
  });

  it.each([
    ['bundle', ['kysely', '@nestjs/core', 'rxjs', 'express']],
    ['library', ['kysely', '@bufbuild/cel', 'yaml']],
  ])('has the licenses of the packages that dist/%s contains', async (folder, some) => {
    await builtProgram();
    const licenses = readFileSync(`dist/${folder}/LICENSES.md`, 'utf8');
    const inside = globSync(`dist/${folder}/*.js`).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^\/\/ (?:\S*\/)?node_modules\/((?:@[^/]+\/)?[^/]+)/gm)].map(
        (match) => match[1]!,
      ),
    );
    expect(inside).toEqual(expect.arrayContaining(some));
    expect(inside.filter((name) => !textIn(licenses, name))).toEqual([]);
    // A notice that only one of its files has.
    expect(textIn(licenses, '@bufbuild/protobuf')).toContain('Copyright 2008 Google Inc.');
  });

  it('has the licenses of the packages that dist/dashboard contains', async () => {
    await builtProgram();
    const licenses = readFileSync('dist/dashboard/LICENSES.md', 'utf8');
    // The app imports only types from this one.
    const imported = [...importedBy('dashboard/src/**/*.{ts,tsx}')].filter(
      (name) => name !== 'openapi-typescript-helpers',
    );
    expect(imported).toEqual(expect.arrayContaining(['react', '@xyflow/react', '@rjsf/core', '@dagrejs/dagre']));
    const inside = [...imported, 'react-dom', 'scheduler', '@tanstack/router-core', '@dagrejs/graphlib'];
    expect(inside.filter((name) => !textIn(licenses, name))).toEqual([]);
  });

  it('shares with the modules of users the packages that they import', async () => {
    await builtProgram();
    const inside = globSync('dist/library/*.js').flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(
        /^\/\/ (?:\S*\/)?node_modules\/(@nestjs\/common|@nestjs\/core|rxjs|prom-client)\//gm,
      ),
    ]);
    expect(inside).toEqual([]);
  });

  it('asks for packages that only some configurations need, in the versions that the tests use', () => {
    const { peerDependencies, peerDependenciesMeta, devDependencies } = read<Manifest>('package.json');
    for (const [name, range] of Object.entries(peerDependencies))
      expect([name, range, peerDependenciesMeta[name]]).toEqual([
        name,
        `^${devDependencies[name]}`,
        { optional: true },
      ]);
  });

  it('installs no package that only the web app uses', () => {
    const ofService = importedBy('src/**/*.ts');
    const { devDependencies } = read<Manifest>('package.json');
    const ofDashboard = [...importedBy('dashboard/src/**/*.{ts,tsx}')];
    expect(ofDashboard).toContain('react');
    expect(ofDashboard.filter((name) => !(name in devDependencies) && !ofService.has(name))).toEqual([]);
  });

  describe('the documented recipe for a software bill of materials', () => {
    let folder: string;
    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), 'starling-release-'));
      for (const file of ['package.json', 'package-lock.json', 'stubs'])
        cpSync(file, join(folder, file), { recursive: true });
    });
    afterEach(() => rmSync(folder, { recursive: true }));

    const [recipe] = blocksOf(readMarkdown('docs/deployment.md'), 'sh').filter((block) => block.includes('npm sbom'));
    // Without a network, because all versions are in the lock file. The recipe works in TMPDIR.
    const follow = (): unknown =>
      execFileSync('sh', ['-e', '-c', recipe!], {
        cwd: folder,
        stdio: 'ignore',
        env: { ...process.env, npm_config_offline: 'true', TMPDIR: folder },
      });

    it('lists every runtime dependency and no development dependency', () => {
      follow();
      const { components } = read<{ components: { name: string; group?: string; version: string }[] }>(
        join(folder, 'sbom.json'),
      );
      const listed = components.map(
        ({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`,
      );
      const { dependencies, devDependencies } = read<Manifest>('package.json');
      expect(listed).toEqual(
        expect.arrayContaining(Object.entries(dependencies).map(([name, version]) => `${name}@${version}`)),
      );
      expect(listed).not.toContain(`jest@${devDependencies['jest']}`);
      expect(readdirSync(folder).filter((name) => name.startsWith('tmp.'))).toEqual([]);
    });

    it('leaves package.json unchanged, even if a step fails', () => {
      writeFileSync(
        join(folder, 'package-lock.json'),
        '{"lockfileVersion": 3, "packages": {"node_modules/x": {"version": "not a version"}}}',
      );
      expect(follow).toThrow();
      expect(readFileSync(join(folder, 'package.json'), 'utf8')).toBe(readFileSync('package.json', 'utf8'));
      expect(existsSync(join(folder, 'sbom.json'))).toBe(false);
    });
  });
});
