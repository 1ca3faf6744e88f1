import type { Board } from './board.js';

/** Returns the number of executions that wait for this by the metric, and the correlations of those in the list. */
export async function waitingFor(board: Board, reason: string): Promise<{ count: number; listed: string[] }> {
  const { text } = await board.http.get('/metrics?name=starling_waiting_executions').expect(200);
  const query = { waits_for: reason, replay: true };
  const { body } = await board.http.get('/api/v1/executions').query(query).expect(200);
  return {
    count: Number(new RegExp(`waits_for="${reason}"} (\\d+)`).exec(text)![1]),
    listed: (body as { items: { correlation_id: string }[] }).items.map(({ correlation_id }) => correlation_id),
  };
}
