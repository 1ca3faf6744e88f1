import { Agent, type AgentArtifact } from '../../src/index.js';
import { agent, diagnosticsIn, load } from './loading.js';

@Agent({
  name: 'triage',
  description: 'Sorts tickets',
  labels: ['pii'],
  consumes: [{ types: ['Ticket'], where: 'payload.urgent', from_agents: ['external'] }],
  publishes: [{ type: 'Sorted', tags: ['new'] }],
  timeout: '5s',
  retry: { attempts: 1 },
})
class Triage {
  execute([ticket]: AgentArtifact[]): unknown {
    return ticket!.payload;
  }
}

describe('agents that are written as classes', () => {
  test('an agent class has the same definition as its twin in the configuration file', async () => {
    const twin = `
agents:
  triage:
    description: Sorts tickets
    labels: [pii]
    consumes: [{ types: [Ticket], where: payload.urgent, from_agents: [external] }]
    publishes: [{ type: Sorted, tags: [new] }]
    timeout: 5s
    retry: { attempts: 1 }
    engine: { kind: expression, expression: payload }
`;
    const written = (await load(twin)).catalog.agent('triage')!;
    const { catalog } = await load('types: { Ticket: { description: declared in the file } }', { classes: [Triage] });
    const { engine, ...defined } = catalog.agent('triage')!;
    expect({ ...defined, engine: written.engine }).toEqual(written);
    expect(engine.kind).toBe('provider');
    expect(catalog.type('Ticket')!.description).toBe('declared in the file');
    expect(catalog.subscriptionsTo('Ticket')).toHaveLength(1);
  });

  test('both kinds are in one catalog', async () => {
    const { catalog } = await load(`agents:\n${agent('first', '{ types: [Sorted] }')}`, { classes: [Triage] });
    expect(catalog.agents.map(({ name }) => name)).toEqual(['first', 'triage']);
  });

  test('the same checks apply; one error lists all problems and names the class', async () => {
    class Wrong {
      execute(): null {
        return null;
      }
    }
    const options = {
      name: 'triage',
      consumes: [{ types: ['T'], where: 'payload +', tag: ['x'] }],
      timeout: 'soon',
      engine: { kind: 'expression' },
    };
    Agent(options as Parameters<typeof Agent>[0])(Wrong);
    const problems = await diagnosticsIn(`bogus: 1\nagents:\n${agent('triage', '{ types: [T] }')}`, {
      classes: [Wrong, Triage],
    });
    expect(problems.map(({ path }) => path)).toEqual([
      'bogus',
      'Wrong.engine',
      'Wrong.consumes[0].tag',
      'Wrong.timeout',
      'Wrong.name',
      'Wrong.consumes[0].where',
      'Triage.name',
    ]);
    expect(problems.find(({ path }) => path === 'Triage.name')).toEqual({
      path: 'Triage.name',
      message: 'another agent already has the name triage; choose another name',
    });
  });

  test('a class without @Agent is refused, even if its parent has the decorator', async () => {
    class Child extends Triage {}
    await expect(load('types: {}', { classes: [Child] })).rejects.toThrow('the class Child has no @Agent({...})');
  });
});
