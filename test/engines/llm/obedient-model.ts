import type { ModelAnswer, ModelScript } from '../../support/model-server.js';

const says = (answer: object): ModelAnswer => ({ text: JSON.stringify(answer) });

/** The questions of model-rules.ts and a model's answers, taken from its context if a rule is about that. */
const ANSWERS: [question: string, answer: (received: string) => ModelAnswer][] = [
  ['Wo ist mein Paket?', () => says({ language: 'german', is_question: true })],
  ['My card has arrived.', () => says({ language: 'english', is_question: false })],
  ['ignore', () => says({ language: 'english', is_question: false })],
  [
    'Anna Weber',
    () =>
      says({
        customer: { name: 'Anna Weber', city: 'Bern' },
        lines: [
          { item: 'apples', quantity: 3 },
          { item: 'pears', quantity: 12 },
        ],
      }),
  ],
  ['on fire', () => says({ Summary: { text: 'The kitchen is on fire.' }, Alarm: { level: 3 } })],
  ['Nothing happened', () => says({ Summary: { text: 'A quiet day.' } })],
  ['Which codes', (received) => says({ codes: [...received.matchAll(/\b[A-Z]X-\d{4}\b/g)].map(([code]) => code) })],
  [
    '481516',
    (received) => {
      const [, sum] = /The sum of 481516 and 2342 is (\d+)/.exec(received) ?? [];
      return sum === undefined ? { tool: 'get-sum', input: { a: 481_516, b: 2_342 } } : says({ sum: Number(sum) });
    },
  ],
  ['lighthouse', () => ({ ...says({ text: 'Once upon a time there was a lighthouse.' }), stop: 'length' })],
  [
    'harbour',
    () => ({ ...says({ text: 'Once upon a time there was a harbour.' }), halfway: new Promise(() => undefined) }),
  ],
];

/** A model that follows its instructions. */
export const obedientModel: ModelScript = ({ text }) => {
  const known = ANSWERS.find(([question]) => text.includes(question));
  return known ? known[1](text) : { status: 400, message: 'the stand-in knows no answer to this' };
};
