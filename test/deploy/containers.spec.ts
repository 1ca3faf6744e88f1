import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import type { Server } from 'node:http';

import { parseDuration } from '../../src/common/units.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import { startApp, type TestApp } from '../support/app.js';
import { commandLine, readYaml, VARIABLES } from './files.js';

interface ComposeService {
  image?: string;
  build?: string;
  environment?: Record<string, string>;
  ports?: string[];
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  stop_grace_period?: string;
}

interface Compose {
  services: Record<string, ComposeService>;
  volumes: object;
  networks: Record<string, { ipam: { config: { subnet: string }[] } }>;
}

const settings = resolveSettings({ flags: {}, environment: {}, server: {} });
const DOCKERFILE = readFileSync('Dockerfile', 'utf8').replaceAll('\\\n', '');
const CADDYFILE = readFileSync('deploy/compose/Caddyfile', 'utf8');

/** Returns the arguments of an instruction of the Dockerfile, or of a directive of the Caddyfile, at any place. */
const after = (text: string, word: string): string[] =>
  [...text.matchAll(new RegExp(`^\\s*${word} +(.+)$`, 'gm'))].map((line) => line[1]!.trim());
const listAfter = (word: string): string[] =>
  JSON.parse(
    after(DOCKERFILE, word)
      .at(-1)!
      .replace(/^.*?CMD /, ''),
  ) as string[];

function exitCode([program, ...args]: string[]): Promise<number | null> {
  expect(program).toBe('node');
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, { timeout: 100_000 }, () => resolve(child.exitCode));
  });
}

// Uses the files, the application on HTTP, and the image's health check as a process. The tests build no image and
// start no container.
describe('the containers', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.close());

  describe('the image', () => {
    it('copies only files that exist and that .dockerignore lets through', () => {
      const sources = after(DOCKERFILE, 'COPY')
        .filter((line) => !line.startsWith('--from'))
        .flatMap((line) => line.split(' ').slice(0, -1));
      const ignored = readFileSync('.dockerignore', 'utf8').split('\n');
      for (const source of sources)
        expect([source, existsSync(source), ignored.includes(`!${source}`)]).toEqual([source, true, true]);
    });

    it('has the Node.js that the tests run on', () => {
      const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
        devDependencies: { node: string };
      };
      expect(after(DOCKERFILE, 'ARG')).toEqual([`NODE_IMAGE=node:${devDependencies.node}-slim`]);
    });

    it('starts the program on a port that it exposes, as a user other than root', () => {
      const [program] = listAfter('ENTRYPOINT') as [string];
      accessSync(program.replace(after(DOCKERFILE, 'WORKDIR').at(-1)!, '.'), constants.X_OK);
      const { name, options } = commandLine(listAfter('CMD'));
      expect([name, existsSync(options.config as string)]).toEqual(['serve', true]);
      expect(after(DOCKERFILE, 'EXPOSE')).toEqual([String(settings.port)]);
      expect(Number(after(DOCKERFILE, 'USER').at(-1))).toBeGreaterThan(0);
      const variables = after(DOCKERFILE, 'ENV').map((line) => line.split('=')[0]!);
      expect(variables.filter((name) => name.startsWith('STARLING_') && !VARIABLES.includes(name))).toEqual([]);
    });

    it('is healthy while the service answers, and unhealthy otherwise', async () => {
      const check = (url: string): string[] =>
        listAfter('HEALTHCHECK').map((part) => part.replace(`http://127.0.0.1:${settings.port}`, url));
      expect(await exitCode(check(app.url))).toBe(0);
      expect(await exitCode(check(`${app.url}/nowhere`))).toBe(1);
      expect(await exitCode(check('http://127.0.0.1:1'))).toBe(1);
    });
  });

  describe('docker-compose.yml', () => {
    const [{ services, volumes, networks }] = readYaml<Compose>('docker-compose.yml') as [Compose];
    const all = Object.entries(services);
    const replicas = all.filter(([, service]) => service.build !== undefined);
    const { balancer, postgres } = services;

    it('runs several replicas on one Postgres, and keeps its data', () => {
      expect(replicas.length).toBeGreaterThan(1);
      for (const [, { environment, depends_on }] of replicas) {
        expect(VARIABLES).toEqual(expect.arrayContaining(Object.keys(environment!)));
        expect(new URL(environment!.DATABASE_URL!.replace(/\$\{\w+:-(.*?)\}/, '$1')).host).toBe('postgres:5432');
        expect(depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
      }
      expect(postgres).toMatchObject({ volumes: ['postgres:/var/lib/postgresql'] });
      expect(volumes).toHaveProperty('postgres');
    });

    it('opens one port, only to this machine', () => {
      const open = all.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]));
      expect(open).toEqual([['balancer', `127.0.0.1:${settings.port}:${settings.port}`]]);
    });

    it('balances over exactly its replicas, once they are healthy', () => {
      const [upstreams] = after(CADDYFILE, 'reverse_proxy');
      expect(upstreams!.split(' ')).toEqual([...replicas.map(([name]) => `${name}:${settings.port}`), '{']);
      expect(Object.keys(balancer!.depends_on!)).toEqual(replicas.map(([name]) => name));
      expect(CADDYFILE).toContain(`\n:${settings.port} {`);
      // The replicas refuse foreign names themselves, because the balancer leaves the Host header unchanged.
      for (const [, { environment }] of replicas)
        expect(environment!.STARLING_ALLOWED_HOSTS).toBe('${STARLING_ALLOWED_HOSTS:-localhost}');
      expect(CADDYFILE).not.toContain('header_up');
    });

    it("trusts the balancer's headers about its clients, because all are in one network", () => {
      expect(all.filter(([, service]) => 'networks' in service || 'network_mode' in service)).toEqual([]);
      const [{ subnet }] = networks.default!.ipam.config as [{ subnet: string }];
      for (const [, { environment }] of replicas) {
        const { STARLING_TRUSTED_PROXIES } = environment!;
        expect(
          resolveSettings({
            flags: {},
            environment: { STARLING_TRUSTED_PROXIES: STARLING_TRUSTED_PROXIES! },
            server: {},
          }).trustedProxies,
        ).toEqual([subnet]);
      }
    });

    it('checks routes that the service answers', async () => {
      const checked = new URL(balancer!.healthcheck!.test.at(-1)!);
      expect(checked.port).toBe(String(settings.port));
      for (const path of [checked.pathname, ...after(CADDYFILE, 'health_uri')])
        expect([path, (await app.http.get(path)).status]).toEqual([path, 200]);
    });

    it('closes idle connections to a replica before the replica does', () => {
      const [idle] = after(CADDYFILE, 'keepalive').map(parseDuration);
      expect(idle).toBeLessThan((app.app.getHttpServer() as Server).keepAliveTimeout);
    });

    it('leaves time for a graceful stop', () => {
      for (const [, { stop_grace_period }] of replicas)
        expect(parseDuration(stop_grace_period!)).toBeGreaterThan(settings.shutdownGraceMs);
      expect(parseDuration(balancer!.stop_grace_period!)).toBeGreaterThan(
        parseDuration(after(CADDYFILE, 'grace_period')[0]!)!,
      );
    });
  });
});
