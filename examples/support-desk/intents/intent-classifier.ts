import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';

import type { LabelledMessage } from './labelled-messages.ts';
import { type FeatureVector, Vocabulary } from './vocabulary.ts';

export interface Guess {
  intent: string;
  /** From 0 to 1. */
  confidence: number;
}

interface Lesson {
  vector: FeatureVector;
  /** Index of the right intent. */
  right: number;
}

const PASSES = 3;
const LEARNING_RATE = 4;
const ITEMS_A_SLICE = 200;

/**
 * Multinomial logistic regression over words and word pairs. Its probabilities serve as confidence as they are: of the
 * messages that it is 60 % sure of, somewhat more than 60 % are right.
 */
export class IntentClassifier {
  private readonly vocabulary: Vocabulary;
  private readonly intents: string[];
  /** One weight for each feature and intent, the intents of a feature side by side. */
  private readonly weights: Float32Array;

  private constructor(vocabulary: Vocabulary, intents: string[]) {
    this.vocabulary = vocabulary;
    this.intents = intents;
    this.weights = new Float32Array(vocabulary.size * intents.length);
  }

  /** The same messages give the same classifier. Lets other work run every few milliseconds. */
  static async train(messages: LabelledMessage[]): Promise<IntentClassifier> {
    const vocabulary = new Vocabulary();
    for await (const { text } of inSlices(messages)) vocabulary.add(text);
    const intents = [...new Set(messages.map(({ category }) => category))];
    const classifier = new IntentClassifier(vocabulary, intents);
    const lessons: Lesson[] = [];
    for await (const { text, category } of inSlices(mixUp(messages))) {
      lessons.push({ vector: vocabulary.vectorOf(text), right: intents.indexOf(category) });
    }
    for (let pass = 0; pass < PASSES; pass++) {
      for await (const lesson of inSlices(lessons)) classifier.learn(lesson);
    }
    return classifier;
  }

  /** The `count` most likely intents, the likeliest first. */
  guess(text: string, count: number): Guess[] {
    return this.probabilities(this.vocabulary.vectorOf(text))
      .map((confidence, index) => ({ intent: this.intents[index]!, confidence }))
      .sort((one, other) => other.confidence - one.confidence)
      .slice(0, count);
  }

  /** One step of gradient descent: raises the right intent's weights and lowers the others', by how wrong each one was. */
  private learn({ vector, right }: Lesson): void {
    const errors = this.probabilities(vector);
    errors[right]! -= 1;
    for (const [position, feature] of vector.features.entries()) {
      const step = LEARNING_RATE * vector.values[position]!;
      const start = feature * errors.length;
      for (let intent = 0; intent < errors.length; intent++) this.weights[start + intent]! -= step * errors[intent]!;
    }
  }

  private probabilities({ features, values }: FeatureVector): number[] {
    const scores = new Array<number>(this.intents.length).fill(0);
    for (const [position, feature] of features.entries()) {
      const value = values[position]!;
      const start = feature * scores.length;
      for (let intent = 0; intent < scores.length; intent++) scores[intent]! += value * this.weights[start + intent]!;
    }
    return softmax(scores);
  }
}

function softmax(scores: number[]): number[] {
  const highest = Math.max(...scores);
  const exponentials = scores.map((score) => Math.exp(score - highest));
  const sum = exponentials.reduce((total, value) => total + value, 0);
  return exponentials.map((value) => value / sum);
}

/** Out of the file's order by intent, which would be learned one after the other and forgotten; alike on every machine. */
function mixUp(messages: LabelledMessage[]): LabelledMessage[] {
  return messages
    .map((message) => ({ message, key: Number.parseInt(hash('sha1', message.text).slice(0, 12), 16) }))
    .sort((one, other) => one.key - other.key)
    .map(({ message }) => message);
}

async function* inSlices<T>(items: T[]): AsyncGenerator<T> {
  for (const [position, item] of items.entries()) {
    if (position % ITEMS_A_SLICE === 0) await setImmediate();
    yield item;
  }
}
