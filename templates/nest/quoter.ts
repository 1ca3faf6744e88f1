import { Agent, type AgentArtifact } from 'starling-agents';

import { Prices } from './prices.module.js';

@Agent({ name: 'quoter', consumes: [{ types: ['Inquiry'] }], publishes: [{ type: 'Quote' }] })
export class Quoter {
  constructor(private readonly prices: Prices) {}

  async execute([inquiry]: AgentArtifact[]) {
    const { product, pieces } = inquiry!.payload as { product: string; pieces: number };
    return { product, total: this.prices.of(product) * pieces };
  }
}
