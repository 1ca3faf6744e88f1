import type { Role } from '../../src/common/role.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ModelServer } from '../support/model-server.js';
import { Board } from './board.js';
import { Experiments } from './experiment-board.js';
import { WORKER } from './replica-boards.js';

const config = (url: string): string => `
models:
  local/small: { input_per_million: 1000, output_per_million: 1000 }
types:
  Message: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 1 } } } }
  Intent: { schema: { type: object, required: [intent], properties: { intent: { type: string } } } }
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Case: { schema: { type: object, required: [output] } }
  Verdict: { schema: { type: object } }
  Work: { schema: { type: object } }
agents:
  classifier:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("card") ? "card" : "other"}' }
  broad:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": payload.text.contains("c") ? "card" : "other"}' }
  broken:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    retry: { attempts: 1 }
    engine: { kind: expression, expression: '{"intent": [""][size(payload.text)]}' }
  ramped:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"intent": "base"}' }
    variants: { other: { share: 50%, expression: '{"intent": "other"}' } }
  responder:
    consumes: [{ types: [Intent] }]
    publishes: [{ type: Reply }]
    engine: { kind: expression, expression: '{"text": "About " + payload.intent}' }
  judge:
    consumes: [{ types: [Case] }]
    publishes: [{ type: Verdict }]
    engine:
      kind: expression
      expression: '{"score": payload.output.intent == payload.expected ? 1.0 : 0.0, "reason": "It says " + payload.output.intent}'
  picky:
    consumes: [{ types: [Case], where: 'false' }]
    publishes: [{ type: Verdict }]
    retry: { attempts: 1 }
    engine:
      kind: expression
      expression: |
        payload.input.text.startsWith("the") ? [] :
        [{"score": payload.input.text.startsWith("my") ? dyn("high") : dyn(10 / (size(payload.input.text) - 5))}]
  speaker:
    consumes: [{ types: [Work] }]
    publishes: [{ type: Reply }]
    engine: { kind: llm, model: local/small, base_url: '${url}', instructions: Answer. }
  person:
    consumes: [{ types: [Message], where: 'false' }]
    publishes: [{ type: Intent }]
    engine: { kind: external }
`;

export const CSV = `text,label
my card is lost,card
the cat sat,other
a card and a coin,card
hello,other
cash machine,card
`;

const TWO = [{ name: 'now' }, { name: 'broad', agent: 'broad' }];
export const ACCURACY = { name: 'accuracy', kind: 'equals', path: '/intent' };

export const ofCsv = (more: object = {}) => ({
  data: { csv: CSV, agent: 'classifier' },
  expected: { column: 'label' },
  output: 'Intent',
  variants: TWO,
  scorers: [ACCURACY],
  ...more,
});

interface StartOptions {
  role?: Role;
  /** Changes the text of the configuration. */
  change?: (config: string) => string;
}

/**
 * The application with agents that classify messages and judges, which can be stopped and started again, and a model server
 * of the test that speaks the wire format of OpenAI-compatible servers.
 */
export class ExperimentApp {
  private folder!: ConfigurationFolder;
  models!: ModelServer;
  board!: Board;
  experiments!: Experiments;

  async open(): Promise<void> {
    this.folder = new ConfigurationFolder();
    this.models = await ModelServer.start(() => ({ text: '{"text": "It is late."}' }));
    await this.start();
  }

  /** Starts the application, also again after `board.close()`. */
  async start({ role = WORKER, change = (text) => text }: StartOptions = {}): Promise<void> {
    this.board = await Board.start(change(config(this.models.url)), { folder: this.folder.path, role });
    this.experiments = new Experiments(this.board.http);
  }

  async close(): Promise<void> {
    await this.board?.close();
    await this.board?.app.database.drop();
    await this.models?.close();
    this.folder?.remove();
  }

  async count(query: string): Promise<number> {
    const [row] = await this.board.app.database.rows<{ count: string }>(`select count(*) as count from ${query}`);
    return Number(row!.count);
  }
}
