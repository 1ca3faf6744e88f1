import { getEventListeners, once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';

import { SystemClock } from '../../src/common/clock.js';
import { resolveSettings } from '../../src/config/resolve-settings.js';
import type { UrlGiver } from '../../src/http-client/address-rules.js';
import { Resolver, SystemResolver } from '../../src/http-client/lookups.js';
import { Outbound, type OutboundRequest } from '../../src/http-client/outbound.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { REFUSED_URLS } from './refused-urls.js';

const METADATA = [
  'http://169.254.169.254/',
  'http://[fd00:ec2::254]/',
  'http://[fd00:ec2::23]/',
  'http://[fd00:42::42]/',
  'http://[::ffff:169.254.169.254]/',
  'http://[fe80::1]/',
  'http://2852039166/',
  'http://0.0.0.0/',
  'http://[64:ff9b::a9fe:a9fe]/',
];

/** Answers each name with the next of its lists of addresses, and then with the last one. */
class ScriptedResolver extends Resolver {
  readonly asked: string[] = [];

  constructor(private readonly script: Record<string, string[][]>) {
    super();
  }

  async resolve(name: string) {
    this.asked.push(name);
    const answers = this.script[name]!;
    const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  }
}

/**
 * Runs a few lookups in parallel, as the system does: names of `.dead` keep their slots until `giveUp`, all others are
 * answered.
 */
class FewSlots extends Resolver {
  override readonly places = 8;
  readonly asked: string[] = [];
  readonly revived = new Set<string>();
  private readonly free: (() => void)[] = [];
  private readonly dead: (() => void)[] = [];
  private taken = 0;

  async resolve(name: string) {
    if (this.taken === this.places) await new Promise<void>((resolve) => this.free.push(resolve));
    else this.taken += 1;
    this.asked.push(name);
    try {
      if (!name.endsWith('.dead') || this.revived.has(name)) return [{ address: '127.0.0.1', family: 4 }];
      await new Promise<void>((resolve) => this.dead.push(resolve));
      throw Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' });
    } finally {
      const next = this.free.shift();
      if (next) next();
      else this.taken -= 1;
    }
  }

  /** Ends the unanswered lookups, including those that take their slots. */
  async giveUp(clock: ManualClock): Promise<void> {
    while (this.dead.length > 0) {
      clock.advance(1_000);
      for (const giveUp of this.dead.splice(0)) giveUp();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

// Uses the client and the servers that it calls; a script resolves the names if a test says so.
describe('outbound requests', () => {
  const open: { outbounds: Outbound[]; servers: Server[] } = { outbounds: [], servers: [] };

  afterEach(async () => {
    await Promise.all(open.outbounds.splice(0).map((outbound) => outbound.onApplicationShutdown()));
    for (const server of open.servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  function outboundWith({
    allow = [],
    ports,
    resolver = new SystemResolver(),
    clock = new SystemClock(),
  }: { allow?: string[]; ports?: number[]; resolver?: Resolver; clock?: SystemClock | ManualClock } = {}): Outbound {
    const outbound = new Outbound(
      Object.assign(resolveSettings({ flags: {}, environment: {}, server: undefined }), {
        outboundAllow: allow,
        ...(ports && { clientWebhookPorts: ports }),
      }),
      clock,
      resolver,
    );
    open.outbounds.push(outbound);
    return outbound;
  }

  async function listen(answer: RequestListener): Promise<{ port: number; requests: IncomingMessage[] }> {
    const requests: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      requests.push(request);
      answer(request, response);
    });
    open.servers.push(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return { port: (server.address() as AddressInfo).port, requests };
  }

  const sending = (by: UrlGiver, parts: Partial<OutboundRequest> = {}): OutboundRequest => ({
    headers: { 'content-type': 'application/json' },
    body: '{"text":"größer"}',
    timeoutMs: 60_000,
    by,
    ...parts,
  });

  describe.each(Object.entries(REFUSED_URLS))('to %s', (_kind, urls) => {
    test.each(urls)("are refused when a client's URL has one: %s", async (url) => {
      const outbound = outboundWith();
      expect(() => outbound.check(url, 'client', 'webhook.url')).toThrow(
        expect.objectContaining({ code: 'invalid', message: expect.stringMatching(/^webhook\.url: must \S/) }),
      );
      await expect(outbound.post(url, sending('client'))).rejects.toMatchObject({
        name: 'OutboundError',
        isRefused: true,
      });
    });
  });

  test.each([
    'http://example.com/',
    'https://example.com:8443/hook?a=b#c',
    'http://93.184.215.14/',
    'http://[2606:4700::1111]/',
    'http://172.32.0.1/',
    'http://[::ffff:8.8.8.8]/',
    'http://[64:ff9b::808:808]/',
    'http://localhost.example.com/',
    'https://bücher.example/',
  ])('may go to public addresses: %s', (url) => expect(() => outboundWith().check(url, 'client', 'url')).not.toThrow());

  test.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://10.1.2.3/',
    'http://[fd12::1]/',
    'http://[::1]/',
    'http://100.64.0.1/',
  ])('may go to internal addresses if the operator allows them: %s', (url) =>
    expect(() => outboundWith().check(url, 'operator', 'url')).not.toThrow(),
  );

  test.each(METADATA)('never go to a metadata service, whatever is allowed: %s', async (url) => {
    const outbound = outboundWith({ allow: ['0.0.0.0/0', '::/0'] });
    for (const by of ['client', 'operator'] as const) {
      expect(() => outbound.check(url, by, 'url')).toThrow(
        /^url: must not point to .*: link-local, metadata and unusable addresses are never called$/,
      );
      await expect(outbound.post(url, sending(by))).rejects.toMatchObject({ isRefused: true });
    }
  });

  it('reach addresses in outbound_allow and no others', async () => {
    const { port, requests } = await listen((_request, response) => response.end('thanks'));
    const outbound = outboundWith({ allow: ['127.0.0.0/8'] });
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
      expect(() => outbound.check(`http://${host}:${port}/`, 'client', 'url')).not.toThrow();
      expect(await outbound.post(`http://${host}:${port}/`, sending('client'))).toMatchObject({
        status: 200,
        text: 'thanks',
        isWhole: true,
      });
    }
    expect(requests).toHaveLength(3);
    expect(() => outbound.check('http://10.0.0.1/', 'client', 'url')).toThrow(
      'url: must point to a public address, not to 10.0.0.1; the operator of this service can allow it with outbound_allow',
    );
  });

  it('are refused when a name resolves to an internal address only at the connection', async () => {
    const { port, requests } = await listen((_request, response) => response.end());
    const resolver = new ScriptedResolver({ 'rebind.example': [['93.184.215.14'], ['127.0.0.1']] });
    expect(await resolver.resolve('rebind.example')).toEqual([{ address: '93.184.215.14', family: 4 }]);
    await expect(
      outboundWith({ resolver, ports: [port] }).post(`http://rebind.example:${port}/`, sending('client')),
    ).rejects.toMatchObject({
      isRefused: true,
      message: 'rebind.example resolves to an address that may not be called; the log of the service shows the address',
    });
    expect([resolver.asked.length, requests.length]).toEqual([2, 0]);
  });

  test.each([
    [['127.0.0.1']],
    [['::1']],
    [['93.184.215.14', '127.0.0.1']],
    [['::ffff:169.254.169.254']],
    [['fe80::1%eth0']],
    [['64:ff9b::a00:1']],
  ])('are refused if a name resolves to %j', async (addresses) => {
    const { port, requests } = await listen((_request, response) => response.end());
    const resolver = new ScriptedResolver({ 'inner.example': [addresses] });
    await expect(
      outboundWith({ resolver, ports: [port] }).post(`http://inner.example:${port}/`, sending('client')),
    ).rejects.toMatchObject({ isRefused: true });
    expect(requests).toHaveLength(0);
  });

  it('to one name look it up once when they are parallel, and again after that', async () => {
    const { port } = await listen((_request, response) => response.end());
    const looked = Promise.withResolvers<void>();
    const resolver = new ScriptedResolver({ 'slow.example': [['127.0.0.1']], 'quick.example': [['127.0.0.1']] });
    const resolve = resolver.resolve.bind(resolver);
    resolver.resolve = async (name) => {
      const addresses = await resolve(name);
      if (name === 'slow.example') await looked.promise;
      return addresses;
    };
    const outbound = outboundWith({ resolver });
    const post = (name: string) =>
      outbound.post(`http://${name}:${port}/`, sending('operator', { headers: { connection: 'close' } }));
    const slow = Array.from({ length: 16 }, () => post('slow.example'));
    expect(await post('quick.example')).toMatchObject({ status: 200 });
    expect(resolver.asked.toSorted()).toEqual(['quick.example', 'slow.example']);
    looked.resolve();
    expect((await Promise.all(slow)).map(({ status }) => status)).toEqual(slow.map(() => 200));
    await post('slow.example');
    expect(resolver.asked.filter((name) => name === 'slow.example')).toHaveLength(2);
  });

  describe('to names that no name server answers for', () => {
    const deadNames = (count: number): string[] => Array.from({ length: count }, (_, n) => `n${n}.dead`);

    async function startWithDeadNames(count: number) {
      const { port } = await listen((_request, response) => response.end());
      const clock = new ManualClock();
      const resolver = new FewSlots();
      const outbound = outboundWith({ resolver, clock });
      const post = (name: string, parts: Partial<OutboundRequest> = {}) =>
        outbound.post(
          `http://${name}:${port}/`,
          sending('operator', { headers: { connection: 'close' }, timeoutMs: undefined, ...parts }),
        );
      /** Resolves when the attempts have failed. */
      const postAll = async (names: string[]): Promise<string[]> =>
        Promise.all(
          names.map((name) =>
            post(name).then(
              () => `${name} answered`,
              (error: Error) => error.message,
            ),
          ),
        );
      const names = deadNames(count);
      await post('known.example');
      return { clock, resolver, post, postAll, names };
    }

    it('leave slots to names that were answered before, and a waiting lookup fails at its timeout', async () => {
      const { clock, resolver, post, postAll, names } = await startWithDeadNames(20);
      const failing = postAll(names);
      const limited = post(names.at(-1)!, { timeoutMs: 3_000 });
      const asked = (): string[] => resolver.asked.filter((name) => name.endsWith('.dead'));
      await eventually('the first are looked up', () => asked().length > 0);
      expect(await post('known.example')).toMatchObject({ status: 200 });
      clock.advance(3_000);
      await expect(limited).rejects.toThrow(/\.dead:\d+: no answer within 3000 ms$/);
      const first = asked();
      clock.advance(7_000);
      await resolver.giveUp(clock);
      const failed = await failing;
      for (const name of names.slice(first.length))
        expect(failed).toContain(
          `${name}: its name could not be looked up in time, because lookups of other names take too long`,
        );
      // No request waits for the others any more.
      expect(asked()).toEqual(first);
      expect(first.length).toBeLessThan(names.length);
    });

    it('leave slots to new names once they are known, and are reached when they are answered again', async () => {
      const { clock, resolver, post, postAll, names } = await startWithDeadNames(12);
      for (let round = 0; round < 2; round += 1) {
        const failing = postAll(names);
        await eventually('some are looked up', () => resolver.asked.some((name) => name.endsWith('.dead')));
        if (round > 0)
          for (let n = 0; n < 10; n += 1) expect(await post(`new${n}.example`)).toMatchObject({ status: 200 });
        await resolver.giveUp(clock);
        await failing;
      }
      expect(new Set(resolver.asked)).toEqual(
        new Set(['known.example', ...names, ...Array.from({ length: 10 }, (_, n) => `new${n}.example`)]),
      );
      for (const name of names) resolver.revived.add(name);
      expect(await postAll(names)).toEqual(names.map((name) => `${name} answered`));
    });
  });

  it('of a client never use the connection that one of the operator has opened', async () => {
    const { port, requests } = await listen((_request, response) => response.end());
    const outbound = outboundWith({
      resolver: new ScriptedResolver({ 'inner.example': [['127.0.0.1']] }),
      ports: [port],
    });
    const url = `http://inner.example:${port}/`;
    expect(await outbound.post(url, sending('operator'))).toMatchObject({ status: 200 });
    expect(requests[0]!.socket.destroyed).toBe(false);
    await expect(outbound.post(url, sending('client'))).rejects.toMatchObject({ isRefused: true });
    expect(requests).toHaveLength(1);
  });

  it('do not follow redirects', async () => {
    const inner = await listen((_request, response) => response.end('secret'));
    const { port } = await listen((_request, response) =>
      response.writeHead(307, { location: `http://127.0.0.1:${inner.port}/` }).end(),
    );
    expect(await outboundWith().post(`http://127.0.0.1:${port}/`, sending('operator'))).toMatchObject({
      status: 307,
      text: '',
    });
    expect(inner.requests).toHaveLength(0);
  });

  it('do not leak a key where a library follows redirects', async () => {
    const other = await listen((_request, response) => response.end('there'));
    const { port, requests } = await listen((request, response) =>
      response.writeHead(307, { location: request.url === '/' ? '/next' : `http://127.0.0.1:${other.port}/` }).end(),
    );
    const keys = {
      authorization: 'Bearer key-4711',
      'x-api-key': 'key-4711',
      'x-goog-api-key': 'key-4711',
      'x-any': 'key-4711',
    };
    const answer = await outboundWith().fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: '{}',
      headers: { ...keys, 'content-type': 'application/json' },
    });
    expect(await answer.text()).toBe('there');
    expect(requests.map(({ url, headers }) => [url, headers])).toEqual([
      ['/', expect.objectContaining(keys)],
      ['/next', expect.objectContaining(keys)],
    ]);
    expect(other.requests[0]!.headers).toMatchObject({
      'content-type': 'application/json',
      host: `127.0.0.1:${other.port}`,
    });
    expect(JSON.stringify(other.requests[0]!.headers)).not.toContain('4711');
  });

  it('send body and headers as they were given, and the name of this program', async () => {
    let received = '';
    const { port, requests } = await listen(
      (request, response) =>
        void text(request).then(
          (body) => ((received = body), response.writeHead(410, { 'retry-after': '7' }).end('gone')),
        ),
    );
    const answer = await outboundWith().post(
      `http://127.0.0.1:${port}/hook?a=b`,
      sending('operator', { headers: { 'webhook-id': 'x' } }),
    );
    expect([received, requests[0]!.url, requests[0]!.method]).toEqual(['{"text":"größer"}', '/hook?a=b', 'POST']);
    expect(requests[0]!.headers).toMatchObject({
      'webhook-id': 'x',
      'user-agent': expect.stringMatching(/^starling\/\d/),
    });
    expect(answer).toMatchObject({ status: 410, text: 'gone', headers: { 'retry-after': '7' } });
  });

  it('read 64 KiB of an answer, and close the connection', async () => {
    const { port, requests } = await listen((_request, response) => {
      const write = (): void => void (response.destroyed || (response.write('x'.repeat(10_000)), setImmediate(write)));
      write();
    });
    const { status, text: read, isWhole } = await outboundWith().post(`http://127.0.0.1:${port}/`, sending('operator'));
    expect([status, read.length, isWhole]).toEqual([200, 65_536, false]);
    await eventually('the connection is closed', () => Promise.resolve(requests[0]!.socket.destroyed));
  });

  it('abort at their timeout, and keep the status of an answer that continues beyond it', async () => {
    const clock = new ManualClock();
    const { port, requests } = await listen((request, response) => {
      if (request.url === '/slow') response.writeHead(202).write('thanks, and');
    });
    const outbound = outboundWith({ clock });
    const silent = outbound.post(`http://127.0.0.1:${port}/silent`, sending('operator'));
    const slow = outbound.post(`http://127.0.0.1:${port}/slow`, sending('operator'));
    await eventually('both are asked', () => Promise.resolve(requests.length === 2));
    clock.advance(59_999);
    expect(await Promise.race([silent, slow, new Promise((resolve) => setImmediate(resolve, 'open'))])).toBe('open');
    clock.advance(1);
    await expect(silent).rejects.toMatchObject({
      isRefused: false,
      message: `127.0.0.1:${port}: no answer within 60000 ms`,
    });
    expect(await slow).toMatchObject({ status: 202, isWhole: false });
  });

  it('stop when their caller aborts them', async () => {
    const { port, requests } = await listen(() => undefined);
    const given = new AbortController();
    const sent = outboundWith().post(`http://127.0.0.1:${port}/`, sending('operator', { signal: given.signal }));
    await eventually('it is asked', () => Promise.resolve(requests.length === 1));
    given.abort();
    await expect(sent).rejects.toMatchObject({ name: 'OutboundError', isRefused: false });
  });

  it("leave no listener on their caller's signal once they are answered", async () => {
    const { port } = await listen((_request, response) => response.end('{}'));
    const given = new AbortController();
    const outbound = outboundWith();
    for (let sent = 0; sent < 3; sent += 1)
      expect(
        await outbound.post(`http://127.0.0.1:${port}/`, sending('operator', { signal: given.signal })),
      ).toMatchObject({ status: 200, isWhole: true });
    expect(getEventListeners(given.signal, 'abort')).toEqual([]);
  });

  it('explain a missing answer in plain words, without the path', async () => {
    const broken = createTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.6\r\n'))).listen(
      0,
      '127.0.0.1',
    );
    const closing = createTcpServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
    await Promise.all([once(broken, 'listening'), once(closing, 'listening')]);
    const free = (broken.address() as AddressInfo).port;
    const resolver = new ScriptedResolver({ 'none.example': [[]] });
    const outbound = outboundWith({ resolver });
    const whyNot = (url: string): Promise<string> =>
      outbound.post(`${url}/token`, sending('operator')).then(
        () => 'an answer',
        (error: Error) => error.message,
      );
    expect(await whyNot(`http://127.0.0.1:${free}`)).toBe(`127.0.0.1:${free}: its answer is not valid HTTP`);
    expect(await whyNot(`http://127.0.0.1:${(closing.address() as AddressInfo).port}`)).toMatch(
      /: the connection was closed before an answer came$/,
    );
    expect(await whyNot('http://none.example')).toBe('none.example has no address');
    broken.close();
    closing.close();
    await once(broken, 'close');
    expect(await whyNot(`http://127.0.0.1:${free}`)).toBe(`127.0.0.1:${free}: the connection was refused`);
  });
});
