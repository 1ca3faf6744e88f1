import type { AgentArtifact } from 'starling-agents';

interface Expense {
  employee: string;
  purpose: string;
  amount: string;
}

const LARGEST_UNASKED = 100;

/** Expense → Decision */
export default async function check([expense]: AgentArtifact[]) {
  const { employee, purpose, amount } = expense!.payload as unknown as Expense;
  const euros = Number(amount);
  const isClear = euros <= LARGEST_UNASKED && !/gift/i.test(purpose);
  return { employee, amount: euros, decision: isClear ? 'pay' : 'ask' };
}
