export default async (shipments) => ({ audited: shipments.map(({ payload }) => payload.n) });
