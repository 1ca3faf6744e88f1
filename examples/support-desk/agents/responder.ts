interface Routing {
  intent: string;
  queue: string;
  priority: 'urgent' | 'high' | 'normal';
}

const ADVICE: Record<string, string> = {
  security: 'Please freeze your card in the app now; this takes one tap under Cards, and you can undo it at any time.',
  'top-ups':
    'Most top-ups arrive within minutes, one by bank transfer within two working days; the app shows its state under Top-ups.',
  transfers: 'Transfers arrive within two working days; the app shows the state of each one under Payments.',
  cash: 'If a machine kept your card or paid out a wrong amount, please note its place and the time; we will need both.',
  payments: 'A pending payment is settled or returned by the shop within seven days; a refund takes up to ten.',
  exchange: 'We exchange at the rate that the app shows under Exchange when you confirm.',
  account: 'You can change your details and see what we need to verify them under Profile in the app.',
  cards: 'Under Cards in the app you see where your card is, and can order, activate or replace one.',
};

const NEXT_STEP: Record<Routing['priority'], string> = {
  urgent: 'A colleague will call you within the hour.',
  high: 'A colleague will look at your request today.',
  normal: 'A colleague will look at your request within a working day.',
};

/** Routing → Reply */
export default async function respond([routing]: [{ payload: Routing }]) {
  const { intent, queue, priority } = routing.payload;
  const topic = intent.replaceAll('_', ' ').replace('?', '').toLowerCase();
  return { intent, text: `Thank you for your message (topic: ${topic}). ${ADVICE[queue]} ${NEXT_STEP[priority]}` };
}
