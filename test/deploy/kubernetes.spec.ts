import { readdirSync, readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { dirname, join } from 'node:path';

import { ipAddress } from '../../src/common/ip-address.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import { AddressRules } from '../../src/http-client/address-rules.js';
import { startApp, type TestApp } from '../support/app.js';
import { commandLine, readYaml, VARIABLES } from './files.js';

const FOLDER = 'deploy/kubernetes';

type Labels = Record<string, string>;

interface Probe {
  httpGet: { path: string; port: string };
}

interface Container {
  image: string;
  args: string[];
  env: { name: string }[];
  ports: { name: string; containerPort: number }[];
  startupProbe: Probe;
  livenessProbe: Probe;
  readinessProbe: Probe;
  lifecycle?: { preStop: { sleep: { seconds: number } } };
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}

interface Pod {
  metadata: { labels: Labels; annotations: Labels };
  spec: {
    terminationGracePeriodSeconds: number;
    initContainers?: Container[];
    containers: [Container];
    volumes: { name: string; configMap?: { name: string } }[];
  };
}

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: object;
}

interface Deployment extends Manifest {
  spec: { replicas?: number; selector: { matchLabels: Labels }; template: Pod };
}

interface Kustomization {
  resources: string[];
  configMapGenerator: [{ name: string; files: [string] }];
  images: { name: string; newTag: string }[];
}

const IMAGE_USER = Number(/^USER (\d+)$/m.exec(readFileSync('Dockerfile', 'utf8'))![1]);

const read = <T>(file: string): T[] => readYaml<T>(join(FOLDER, file));
const selects = (labels: Labels, { template }: Deployment['spec']): boolean =>
  Object.entries(labels).every(([name, value]) => template.metadata.labels[name] === value);

function blockList(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

function numberOf(address: string): bigint {
  if (isIP(address) === 4) return address.split('.').reduce((number, byte) => number * 256n + BigInt(byte), 0n);
  const [front = [], back = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')));
  return [...front, ...Array<string>(8 - front.length - back.length).fill('0'), ...back].reduce(
    (number, group) => number * 65_536n + BigInt(`0x${group}`),
    0n,
  );
}

function textOf(number: bigint, bits: number): string {
  if (bits === 32) return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 255n)).join('.');
  return Array.from({ length: 8 }, (_, index) => ((number >> BigInt(112 - 16 * index)) & 65_535n).toString(16)).join(
    ':',
  );
}

// Uses the files as kubectl gets them, and the application on HTTP. There is no cluster, so how Kubernetes applies them
// is not tested.
describe('the Kubernetes manifests', () => {
  const [kustomization] = read<Kustomization>('kustomization.yaml') as [Kustomization];
  const [configuration] = kustomization.configMapGenerator;
  const manifests = kustomization.resources.flatMap((file) => read<Manifest>(file));
  const ofKind = <T extends Manifest>(kind: string): T[] =>
    manifests.filter((manifest) => manifest.kind === kind) as T[];
  const deployments = ofKind<Deployment>('Deployment');
  const named = deployments.map((deployment) => [deployment.metadata.name, deployment.spec] as const);
  const settings = resolveSettings({ flags: {}, environment: {}, server: {} });

  it('are all in the kustomization, with its configuration and the values of the metrics adapter', () => {
    expect(
      [
        ...kustomization.resources,
        ...configuration.files,
        'kustomization.yaml',
        'prometheus-adapter-values.yaml',
      ].sort(),
    ).toEqual(readdirSync(FOLDER).sort());
  });

  it("run the image of this version, in the program's roles", () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    expect(kustomization.images).toEqual([{ name: 'starling', newTag: version }]);
    const lines = deployments.map(({ spec }) => commandLine(spec.template.spec.containers[0].args));
    expect(lines).toMatchObject([{ name: 'serve', options: { worker: false } }, { name: 'worker' }]);
  });

  describe.each(named)('of %s', (_name, spec) => {
    const { metadata, spec: pod } = spec.template;
    const [container] = pod.containers;
    const command = commandLine(container.args);
    let app: TestApp;

    beforeAll(async () => {
      const role = { api: command.name === 'serve', worker: command.options.worker !== false };
      app = await startApp({ configFile: join(FOLDER, configuration.files[0]), role });
    });
    afterAll(() => app.close());

    it('probe and scrape paths that this role answers, at its port', async () => {
      const { startupProbe, livenessProbe, readinessProbe, ports } = container;
      const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
      expect(ports).toEqual([{ name: 'http', containerPort: settings.port }]);
      expect(new Set(probes.map(({ port }) => port))).toEqual(new Set(['http']));
      expect(metadata.annotations['prometheus.io/port']).toBe(String(settings.port));
      for (const path of [...probes.map((probe) => probe.path), metadata.annotations['prometheus.io/path']!]) {
        expect([path, (await app.http.get(path)).status]).toEqual([path, 200]);
      }
    });

    it('do not fail liveness during a stop or without a database', () => {
      expect(container.livenessProbe.httpGet.path).toBe('/health/live');
      expect(container.readinessProbe.httpGet.path).toBe('/health/ready');
    });

    it('scale on a metric that it reports', async () => {
      const [{ rules }] = read<{ rules: { external: { seriesQuery: string; name: { as: string } }[] } }>(
        'prometheus-adapter-values.yaml',
      ) as [never];
      const { metrics } = ofKind<Manifest & { spec: { metrics: { external: { metric: { name: string } } }[] } }>(
        'HorizontalPodAutoscaler',
      )[0]!.spec;
      const [name] = metrics.map(({ external }) => external.metric.name);
      expect(rules).toMatchObject({
        external: [{ seriesQuery: expect.stringContaining(`__name__="${name}"`), name: { as: name } }],
      });
      expect((await app.http.get('/metrics')).text).toMatch(new RegExp(`^${name} \\d+$`, 'm'));
    });

    it('use only existing settings, and mount the configuration at the path of the command line', () => {
      expect(VARIABLES).toEqual(expect.arrayContaining(container.env.map(({ name }) => name)));
      const file = command.options.config as string;
      const { name } = container.volumeMounts.find(({ mountPath }) => mountPath === dirname(file))!;
      expect(pod.volumes).toContainEqual({ name, configMap: { name: configuration.name } });
      expect(configuration.files).toEqual([file.slice(dirname(file).length + 1)]);
    });

    it('leave time for a graceful stop', () => {
      const waitsSeconds = container.lifecycle?.preStop.sleep.seconds ?? 0;
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(
        waitsSeconds * 1_000 + settings.shutdownGraceMs,
      );
    });

    it('give the process only the rights that it needs, and no variables of the Service', () => {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        // Kubernetes would set STARLING_PORT to a URL, and the program would not start.
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: IMAGE_USER,
          runAsGroup: IMAGE_USER,
          fsGroup: IMAGE_USER,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      for (const { securityContext } of [...(pod.initContainers ?? []), ...pod.containers]) {
        expect(securityContext).toEqual({
          privileged: false,
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    });

    it('include a separate disruption budget, and the network policy', () => {
      const budgets = ofKind<Manifest & { spec: { selector: { matchLabels: Labels } } }>('PodDisruptionBudget');
      expect(budgets.filter((budget) => selects(budget.spec.selector.matchLabels, spec))).toHaveLength(1);
      const [policy] = ofKind<Manifest & { spec: { podSelector: { matchLabels: Labels } } }>('NetworkPolicy');
      expect(selects(policy!.spec.podSelector.matchLabels, spec)).toBe(true);
      expect(selects(spec.selector.matchLabels, spec)).toBe(true);
    });
  });

  describe('the network policy', () => {
    interface Rule {
      to?: { ipBlock?: { cidr: string; except: string[] } }[];
      ports?: { port: number }[];
    }
    const [policy] = ofKind<Manifest & { spec: { policyTypes: string[]; egress: Rule[] } }>('NetworkPolicy');
    const { egress, policyTypes } = policy!.spec;

    it('allows DNS lookups and connections to Postgres', () => {
      expect(policyTypes).toEqual(['Ingress', 'Egress']);
      const ports = egress.map((rule) => rule.ports?.map(({ port }) => port));
      expect(ports).toEqual(expect.arrayContaining([[53, 53], [5432]]));
    });

    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
    const lists = blocks.map(({ cidr, except }) => ({ within: blockList([cidr]), without: blockList(except) }));
    const letsOut = (address: string): boolean => {
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      return lists.some(({ within, without }) => within.check(address, family) && !without.check(address, family));
    };
    /** Returns the addresses at a range's ends, and those right before and after it. */
    const around = (range: string): string[] => {
      const [text = '', prefix] = range.split('/');
      const bits = isIP(text) === 6 ? 128 : 32;
      const size = 1n << BigInt(bits - Number(prefix));
      const first = (numberOf(text) / size) * size;
      return [first - 1n, first, first + size - 1n, first + size]
        .filter((one) => one >= 0n && one < 1n << BigInt(bits))
        .map((one) => textOf(one, bits));
    };

    // Reads both lists: a range in only one of them is a difference at its edges.
    it('allows egress to exactly the addresses that the program calls for clients', () => {
      const rules = new AddressRules({ allow: [], ports: [443], hosts: null });
      const ranges = [
        ...blocks.flatMap(({ cidr, except }) => [cidr, ...except]),
        ...[...readFileSync('src/http-client/address-rules.ts', 'utf8').matchAll(/'([\da-f.:]+\/\d+)'/g)].map(
          ([, range]) => range!,
        ),
      ];
      expect(ranges).toEqual(
        expect.arrayContaining(['168.63.129.16/32', '192.0.0.192/32', '64:ff9b:1::/48', '2000::/3']),
      );
      // The program calls a wrapped IPv4 address as such, and it leaves a cluster with NAT64 as IPv6.
      const addresses = ranges.flatMap(around).filter((address) => ipAddress(address)!.text === address);
      const different = addresses.filter(
        (address) => letsOut(address) !== (rules.refusal(address, 443, 'client') === null),
      );
      expect(different).toEqual([]);
    });

    it.each([
      '64:ff9b::a9fe:a9fe',
      '::ffff:169.254.169.254',
      'fd00:ec2::254',
      'fe80::1',
      '168.63.129.16',
      '192.0.0.192',
      '198.19.255.255',
      '239.1.2.3',
    ])('allows no egress to %s', (address) => {
      expect(letsOut(address)).toBe(false);
    });

    it('allows egress to public addresses', () =>
      expect(['1.1.1.1', '2606:4700::1111'].map(letsOut)).toEqual([true, true]));

    it('opens the port of Postgres only to the named pods', () => {
      const database = egress.filter(({ ports = [] }) => ports.some(({ port }) => port === 5432));
      expect(database).toEqual([
        {
          to: [
            {
              namespaceSelector: { matchLabels: expect.any(Object) },
              podSelector: { matchLabels: expect.any(Object) },
            },
          ],
          ports: [{ protocol: 'TCP', port: 5432 }],
        },
      ]);
    });
  });

  it('send requests only to the processes that answer them', () => {
    const [service] = ofKind<Manifest & { spec: { selector: Labels; ports: { targetPort: string }[] } }>('Service');
    const behind = deployments.filter(({ spec }) => selects(service!.spec.selector, spec));
    expect(behind.map(({ spec }) => spec.template.spec.containers[0].args[0])).toEqual(['serve']);
    expect(service!.spec.ports.map(({ targetPort }) => targetPort)).toEqual(['http']);
  });

  it('leave the number of workers to the autoscaler', () => {
    const [autoscaler] = ofKind<Manifest & { spec: { scaleTargetRef: { name: string } } }>('HorizontalPodAutoscaler');
    const scaled = deployments.find(({ metadata }) => metadata.name === autoscaler!.spec.scaleTargetRef.name);
    expect(scaled!.spec.template.spec.containers[0].args[0]).toBe('worker');
    expect(scaled!.spec).not.toHaveProperty('replicas');
  });
});
