/** A message as numbers: which known features it has, and how much each one says. */
export interface FeatureVector {
  features: number[];
  /** One for each feature; as a vector of length 1, so that long messages weigh no more than short ones. */
  values: number[];
}

const ENDING = /(ing|ed|es|s)$/;

/** The words of a text without their common endings, and the pairs of neighbours among them; each once. */
function featuresOf(text: string): Set<string> {
  const words =
    text
      .toLowerCase()
      .replaceAll('’', "'")
      .match(/[\p{L}\p{N}']+/gu) ?? [];
  const stems = words.map((word) => word.replace(ENDING, ''));
  const pairs = stems.slice(1).map((stem, position) => `${stems[position]} ${stem}`);
  return new Set([...stems, ...pairs]);
}

/** The features of the texts that it was shown, each weighted by how rare it is (inverse document frequency). */
export class Vocabulary {
  private texts = 0;
  private readonly known = new Map<string, { index: number; texts: number }>();

  add(text: string): void {
    this.texts++;
    for (const feature of featuresOf(text)) {
      const entry = this.known.get(feature);
      if (entry) entry.texts++;
      else this.known.set(feature, { index: this.known.size, texts: 1 });
    }
  }

  get size(): number {
    return this.known.size;
  }

  /** Features never seen are left out. */
  vectorOf(text: string): FeatureVector {
    const entries = [...featuresOf(text)].flatMap((feature) => this.known.get(feature) ?? []);
    const weights = entries.map((entry) => 1 + Math.log(this.texts / entry.texts));
    const length = Math.hypot(...weights);
    return { features: entries.map(({ index }) => index), values: weights.map((weight) => weight / length) };
  }
}
