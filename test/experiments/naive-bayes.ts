/** A text with the label that a person gave it. */
export interface Labelled {
  text: string;
  category: string;
}

const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

const withPairs = (text: string): string[] => {
  const all = words(text);
  return [...all, ...all.slice(1).map((word, index) => `${all[index]} ${word}`)];
};

/** A multinomial naive Bayes classifier: `alpha` is added to each count, so that unseen words do not exclude a label. */
export class NaiveBayes {
  private readonly counts = new Map<string, Map<string, number>>();
  private readonly totals = new Map<string, number>();
  private readonly texts = new Map<string, number>();
  private readonly featuresOf: (text: string) => string[];
  private readonly alpha: number;

  constructor(lessons: readonly Labelled[], alpha: number, { bigrams = false } = {}) {
    this.alpha = alpha;
    this.featuresOf = bigrams ? withPairs : words;
    for (const { text, category } of lessons) {
      this.texts.set(category, (this.texts.get(category) ?? 0) + 1);
      for (const feature of this.featuresOf(text)) {
        const ofFeature = this.counts.get(feature) ?? new Map<string, number>();
        this.counts.set(feature, ofFeature.set(category, (ofFeature.get(category) ?? 0) + 1));
        this.totals.set(category, (this.totals.get(category) ?? 0) + 1);
      }
    }
  }

  guess(text: string): string {
    const features = this.featuresOf(text).flatMap((feature) => this.counts.get(feature) ?? []);
    let [best, highest] = ['', -Infinity];
    for (const [category, texts] of this.texts) {
      const total = Math.log(this.totals.get(category)! + this.alpha * this.counts.size);
      const score = features.reduce(
        (sum, counts) => sum + Math.log((counts.get(category) ?? 0) + this.alpha) - total,
        Math.log(texts),
      );
      if (score > highest) [best, highest] = [category, score];
    }
    return best;
  }
}
