import { Agent, type AgentArtifact } from '../../src/index.js';

/** An agent of each kind, and subscriptions of each kind; the names are those of the document's examples. */
export const AGENTS = `
types:
  CustomerMessage:
    schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1, maxLength: 1000 }, n: { type: integer } } }
agents:
  classifier:
    consumes: [{ types: [CustomerMessage], where: size(payload.text) > 3 && !payload.text.matches("^x+$") }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"words": payload.text.split(" ").size()}' }
    timeout: 1h
  router:
    consumes: [{ types: [Intent, Note], mode: any, tags: ['channel:chat', vip] }, { types: [Loud] }]
    publishes: [{ type: Routing }]
    engine: { kind: function, module: ./agents/router.js }
    timeout: 1h
  pairer:
    consumes: [{ types: [Note, Reply], join: { by: payload.key } }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"pair": payload}' }
    timeout: 1h
  hurried:
    consumes: [{ types: [Question, Answer], join: { within: 5m }, where: payload.Question.n == payload.Answer.n }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"pair": payload}' }
    timeout: 1h
  packer:
    consumes: [{ types: [Item], batch: { size: 5, timeout: 30s } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"size": inputs.size()}' }
    timeout: 1h
  failing:
    consumes: [{ types: [Doom] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./agents/failing.js }
    timeout: 1h
    retry: { attempts: 2, delay: 1s }
  wrong:
    labels: [pii]
    tenant_id: tenant-7
    consumes: [{ types: [Wrong] }]
    publishes: [{ type: CustomerMessage }]
    engine: { kind: expression, expression: '{"text": ""}' }
    timeout: 1h
    retry: { attempts: 1 }
`;

export const AGENT_FILES = {
  'package.json': '{ "type": "module" }',
  'agents/router.js': `export default async ([input], { blackboard }) => {
    const seen = await blackboard.list({ correlation_id: input.correlation_id, limit: 3 });
    return { queue: input.type, seen: seen.length };
  };`,
  'agents/failing.js': `export default async ([input]) => { throw new TypeError('this never works: ' + JSON.stringify(input.payload).slice(0, 100)); };`,
};

@Agent({ name: 'shouter', consumes: [{ types: ['Whisper'] }], publishes: [{ type: 'Loud' }], timeout: '1h' })
export class Shouter {
  execute([whisper]: AgentArtifact[]): unknown {
    return { text: String(whisper!.payload.text).toUpperCase() };
  }
}
