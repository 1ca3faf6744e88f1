import { type Guess, IntentClassifier } from '../intents/intent-classifier.ts';
import { readLabelledMessages } from '../intents/labelled-messages.ts';

const TRAINING_FILE = new URL('../banking77/train.csv', import.meta.url);

let training: Promise<IntentClassifier> | undefined;

/** Trains at first use; executions that come meanwhile wait for the same training. */
function trained(): Promise<IntentClassifier> {
  training ??= readLabelledMessages(TRAINING_FILE)
    .then((messages) => IntentClassifier.train(messages))
    .catch((error) => {
      // A failed promise that is kept would fail every message until the next start.
      training = undefined;
      throw error;
    });
  return training;
}

const rounded = ({ intent, confidence }: Guess) => ({ intent, confidence: Number(confidence.toFixed(4)) });

/** CustomerMessage → Intent */
export default async function classify([message]: [{ payload: { text: string } }]) {
  const classifier = await trained();
  const [likeliest, ...alternatives] = classifier.guess(message.payload.text, 3).map(rounded);
  return { ...likeliest, alternatives };
}
