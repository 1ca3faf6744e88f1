import type { Cascade, CascadeExecution } from './cascade.js';

/** Gives equal descriptions the same number, in one cascade and in the other. */
export class PlaceNumbers {
  private readonly numbers = new Map<string, number>();

  of(...description: readonly (string | number)[]): number {
    const key = JSON.stringify(description);
    const number = this.numbers.get(key) ?? this.numbers.size;
    this.numbers.set(key, number);
    return number;
  }
}

/**
 * Returns the place of each artifact. Two artifacts have the same place if they are the same output, counted by type,
 * of executions of the same subscription on inputs of the same places. Artifacts that no execution published are
 * counted by type and producer. Payloads and the order in which executions end do not matter.
 */
export function placesOf({ artifacts, executions }: Cascade, numbers: PlaceNumbers): Map<string, number> {
  const places = new Map<string, number>();
  const placeOfExecution = countedExecutions(numbers, places);
  const nth = counter();
  for (const { id, type, produced_by, execution_id } of artifacts) {
    const execution = execution_id === null ? undefined : executions.get(execution_id);
    const origin = execution ? ['output', placeOfExecution(execution), type] : ['published', produced_by, type];
    places.set(id, numbers.of(...origin, nth(...origin)));
  }
  return places;
}

/** An input always precedes the outputs, so its place is known, unless it belongs to another correlation. */
function countedExecutions(
  numbers: PlaceNumbers,
  places: ReadonlyMap<string, number>,
): (execution: CascadeExecution) => number {
  const known = new Map<string, number>();
  const nth = counter();
  return ({ id, agent, subscription, inputs }) => {
    const before = known.get(id);
    if (before !== undefined) return before;
    const inputPlaces = inputs.map(
      (input) => places.get(input.id) ?? numbers.of('elsewhere', input.type, input.produced_by),
    );
    const description = ['execution', agent, subscription, ...inputPlaces];
    const place = numbers.of(...description, nth(...description));
    known.set(id, place);
    return place;
  };
}

/** Returns a function that counts how often it was called with the same description. */
function counter(): (...description: readonly (string | number)[]) => number {
  const counts = new Map<string, number>();
  return (...description) => {
    const key = JSON.stringify(description);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    return count;
  };
}
