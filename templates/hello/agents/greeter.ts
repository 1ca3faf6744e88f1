import type { AgentArtifact } from 'starling-agents';

interface Visitor {
  name: string;
  visits: number;
}

/** Visitor → Greeting */
export default async function greet([visitor]: AgentArtifact[]) {
  const { name, visits } = visitor!.payload as unknown as Visitor;
  return { text: visits === 1 ? `Hello ${name}!` : `Welcome back, ${name}!` };
}
