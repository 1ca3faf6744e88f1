import { IntentClassifier } from './intents/intent-classifier.ts';
import { readLabelledMessages } from './intents/labelled-messages.ts';

const readFile = (name: string) => readLabelledMessages(new URL(`./banking77/${name}`, import.meta.url));
const perCent = (part: number, whole: number) => `${((part / whole) * 100).toFixed(1)} %`;

const beforeTraining = performance.now();
const classifier = await IntentClassifier.train(await readFile('train.csv'));
const trainingMs = performance.now() - beforeTraining;

const messages = await readFile('test.csv');
const beforeTest = performance.now();
const outcomes = messages.map(({ text, category }) => {
  const [guess] = classifier.guess(text, 1);
  return { right: guess!.intent === category, unsure: guess!.confidence < 0.5 };
});
const microsecondsEach = ((performance.now() - beforeTest) / messages.length) * 1_000;

const right = outcomes.filter((outcome) => outcome.right);
const unsure = outcomes.filter((outcome) => outcome.unsure);
const rightThoughUnsure = right.filter((outcome) => outcome.unsure);
console.log(`right: ${right.length} of ${messages.length}`);
console.log(`accuracy: ${perCent(right.length, messages.length)}`);
console.log(
  `below a confidence of 0.5: ${unsure.length}, of which right: ${perCent(rightThoughUnsure.length, unsure.length)}`,
);
console.log(`training: ${trainingMs.toFixed(0)} ms`);
console.log(`each message: ${microsecondsEach.toFixed(0)} µs`);
