import { readdirSync, readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { dirname, join } from 'node:path';
import { resolveSettings } from '../../src/config/resolve-settings.js';
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
  spec: { terminationGracePeriodSeconds: number; initContainers?: Container[]; containers: [Container]; volumes: { name: string; configMap?: { name: string } }[] };
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

// Real: the files as kubectl gets them, the application on HTTP. There is no cluster: what Kubernetes makes of them is not tried.
describe('the Kubernetes manifests', () => {
  const [kustomization] = read<Kustomization>('kustomization.yaml') as [Kustomization];
  const [configuration] = kustomization.configMapGenerator;
  const manifests = kustomization.resources.flatMap((file) => read<Manifest>(file));
  const ofKind = <T extends Manifest>(kind: string): T[] => manifests.filter((manifest) => manifest.kind === kind) as T[];
  const deployments = ofKind<Deployment>('Deployment');
  const named = deployments.map((deployment) => [deployment.metadata.name, deployment.spec] as const);
  const settings = resolveSettings({ flags: {}, environment: {}, server: {} });

  it('are all in the kustomization, beside its configuration and the values of the metrics adapter', () => {
    expect([...kustomization.resources, ...configuration.files, 'kustomization.yaml', 'prometheus-adapter-values.yaml'].sort()).toEqual(readdirSync(FOLDER).sort());
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
      const role = { serves: command.name === 'serve', works: command.options.worker !== false };
      app = await startApp({ configFile: join(FOLDER, configuration.files[0]), role });
    });
    afterAll(() => app.close());

    it('probe and scrape what this role answers, at its port', async () => {
      const { startupProbe, livenessProbe, readinessProbe, ports } = container;
      const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
      expect(ports).toEqual([{ name: 'http', containerPort: settings.port }]);
      expect(new Set(probes.map(({ port }) => port))).toEqual(new Set(['http']));
      expect(metadata.annotations['prometheus.io/port']).toBe(String(settings.port));
      for (const path of [...probes.map((probe) => probe.path), metadata.annotations['prometheus.io/path']!]) {
        expect([path, (await app.http.get(path)).status]).toEqual([path, 200]);
      }
    });

    it('do not fail liveness for a stop or a lost database', () => {
      expect(container.livenessProbe.httpGet.path).toBe('/health/live');
      expect(container.readinessProbe.httpGet.path).toBe('/health/ready');
    });

    it('scale on a metric that it reports', async () => {
      const [{ rules }] = read<{ rules: { external: { seriesQuery: string; name: { as: string } }[] } }>('prometheus-adapter-values.yaml') as [never];
      const { metrics } = ofKind<Manifest & { spec: { metrics: { external: { metric: { name: string } } }[] } }>('HorizontalPodAutoscaler')[0]!.spec;
      const [name] = metrics.map(({ external }) => external.metric.name);
      expect(rules).toMatchObject({ external: [{ seriesQuery: expect.stringContaining(`__name__="${name}"`), name: { as: name } }] });
      expect((await app.http.get('/metrics')).text).toMatch(new RegExp(`^${name} \\d+$`, 'm'));
    });

    it('set what can be set, and mount the configuration where its command line looks for it', () => {
      expect(VARIABLES).toEqual(expect.arrayContaining(container.env.map(({ name }) => name)));
      const file = command.options.config as string;
      const { name } = container.volumeMounts.find(({ mountPath }) => mountPath === dirname(file))!;
      expect(pod.volumes).toContainEqual({ name, configMap: { name: configuration.name } });
      expect(configuration.files).toEqual([file.slice(dirname(file).length + 1)]);
    });

    it('leave time for a graceful stop', () => {
      const waitsSeconds = container.lifecycle?.preStop.sleep.seconds ?? 0;
      expect(pod.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(waitsSeconds * 1_000 + settings.shutdownGraceMs);
    });

    it('give the process no more rights than it needs, and no variables of the Service', () => {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        // Kubernetes would set STARLING_PORT to a URL, and the program would not start.
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: IMAGE_USER, runAsGroup: IMAGE_USER, fsGroup: IMAGE_USER, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const { securityContext } of [...(pod.initContainers ?? []), ...pod.containers]) {
        expect(securityContext).toEqual({ privileged: false, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } });
      }
    });

    it('have a disruption budget of their own, and the network policy', () => {
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

    it('lets out lookups and calls of Postgres', () => {
      expect(policyTypes).toEqual(['Ingress', 'Egress']);
      const ports = egress.map((rule) => rule.ports?.map(({ port }) => port));
      expect(ports).toEqual(expect.arrayContaining([[53, 53], [5432]]));
    });

    // The same addresses that the program itself takes for inner ones.
    it.each(['10.0.0.7', '172.31.0.1', '192.168.1.1', '100.64.0.1', '127.0.0.1', '169.254.169.254', 'fd00:ec2::254', 'fe80::1'])('lets no call of a public address out to %s', (address) => {
      const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
      const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock }) => ipBlock ?? [])).filter(({ cidr }) => cidr.includes(':') === (family === 'ipv6'));
      expect(blocks).toHaveLength(1);
      const inner = new BlockList();
      for (const range of blocks[0]!.except) inner.addSubnet(range.split('/')[0]!, Number(range.split('/')[1]), family);
      expect(inner.check(address, family)).toBe(true);
      expect(inner.check(family === 'ipv6' ? '2606:4700::1111' : '1.1.1.1', family)).toBe(false);
    });
  });

  it('send requests to the processes that answer them alone', () => {
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
