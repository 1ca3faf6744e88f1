// Checks what generators of clients need of the OpenAPI document of the application.
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/common/json.js';
import { startApp, type TestApp } from '../support/app.js';

const CONFIG = `
types:
  Inquiry:
    description: What a customer wants to buy
    schema:
      type: object
      title: An inquiry
      required: [product, pieces]
      properties:
        product: { enum: [Lamp, Chair] }
        pieces: { type: integer, exclusiveMinimum: 0, default: 1 }
        note: { type: [string, 'null'], maxLength: 80 }
        lines: { type: array, items: { $ref: '#/$defs/order-line' } }
        delivery: { oneOf: [{ title: Pick up, type: object, properties: { shop: { const: Berlin } } }, { type: string }] }
      patternProperties: { '^x-': {} }
      additionalProperties: false
      if: { required: [note] }
      then: { required: [lines] }
      $defs: { order-line: { type: object, title: An inquiry, properties: { parts: { type: array, items: { $ref: '#/$defs/order-line' } } } } }
  Quote: { schema: { type: object, required: [total], properties: { total: { type: number, minimum: 5 } } } }
  Note: {}
  OrderLine: { schema: { type: object, properties: { text: { type: string } } } }
  order-line: { schema: { type: object, properties: { n: { type: integer } } } }
  3d: { schema: { type: object } }
  订单: { schema: { type: object } }
agents:
  quoter:
    description: Quotes a price
    consumes: [{ types: [Inquiry] }]
    publishes: [{ type: Quote }]
    engine: { kind: expression, expression: "{ 'total': 5.0 }" }
`;

interface Document {
  openapi: string;
  paths: Record<string, Record<string, { requestBody?: JsonObject }>>;
  components: { schemas: Record<string, JsonObject> };
}

let app: TestApp;
let document: Document;
beforeAll(async () => {
  app = await startApp({ config: CONFIG });
  document = (await app.http.get('/openapi.json').expect(200)).body as Document;
});
afterAll(() => app.close());

interface Part {
  place: string;
  part: JsonObject;
}

/** Every object of the document outside of examples. */
function partsOf(value: JsonValue, place = '', isNamed = false): Part[] {
  if (Array.isArray(value)) return value.flatMap((item, index) => partsOf(item, `${place}/${index}`));
  if (!isJsonObject(value)) return [];
  const inner = Object.entries(value).filter(([key]) => isNamed || (key !== 'example' && key !== 'examples'));
  return [
    ...(isNamed ? [] : [{ place, part: value }]),
    ...inner.flatMap(([key, one]) => partsOf(one, `${place}/${key}`, !isNamed && key === 'properties')),
  ];
}

const places = (holds: (one: Part) => boolean): string[] =>
  partsOf(document as unknown as JsonObject)
    .filter(holds)
    .map(({ place }) => place);

it('has no default that is an object, and no default of a field of a body', () => {
  expect(places(({ part }) => typeof part.default === 'object')).toEqual([]);
  expect(places(({ place, part }) => place.startsWith('/components/schemas') && 'default' in part)).toEqual([]);
  const { timeout } = document.components.schemas.SyncPublishRequest!.properties as Record<string, JsonObject>;
  expect(timeout!.description).toBe('Maximum wait in seconds (default: 30)');
});

it('names each schema that has alternatives, and each of the alternatives', () => {
  const isComponent = (place: string): boolean => /^\/components\/schemas\/[^/]+$/.test(place);
  const alternatives = ({ part }: Part): JsonValue[] =>
    ['oneOf', 'anyOf'].flatMap((key) => (part[key] as JsonValue[]) ?? []);
  expect(places((one) => alternatives(one).length > 0 && !isComponent(one.place))).toEqual([]);
  const isTyped = (one: JsonValue): boolean => isJsonObject(one) && !one.$ref && Object.keys(one).join() !== 'required';
  expect(places((one) => alternatives(one).some(isTyped))).toEqual([]);
});

it('has no titles, after which generators would name types', () => {
  expect(places(({ place, part }) => place !== '/info' && 'title' in part)).toEqual([]);
});

it('refers only to components that it has', () => {
  const referred = partsOf(document as unknown as JsonObject).flatMap(({ part }) =>
    part.$ref ? [part.$ref as string] : [],
  );
  expect(referred.length).toBeGreaterThan(100);
  const known = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
  expect(referred.filter((one) => !known.includes(one) && !one.startsWith('#/components/headers/'))).toEqual([]);
});

it('has the payload of each type as a component in the terms of OpenAPI 3.0', () => {
  const { schemas } = document.components;
  expect(document.openapi).toBe('3.0.3');
  expect(schemas.InquiryPayload).toEqual({
    description: 'What a customer wants to buy',
    type: 'object',
    required: ['product', 'pieces'],
    properties: {
      product: { type: 'string', enum: ['Lamp', 'Chair'] },
      pieces: { type: 'integer', minimum: 0, exclusiveMinimum: true },
      note: { type: 'string', nullable: true, maxLength: 80 },
      lines: { type: 'array', items: { $ref: '#/components/schemas/InquiryPayloadOrderLine' } },
      delivery: { $ref: '#/components/schemas/InquiryPayloadDelivery' },
    },
  });
  expect(schemas.InquiryPayloadDelivery).toEqual({
    anyOf: [
      { $ref: '#/components/schemas/InquiryPayloadDeliveryPickUp' },
      { $ref: '#/components/schemas/InquiryPayloadDeliveryOption2' },
    ],
  });
  expect(schemas.InquiryPayloadDeliveryPickUp).toEqual({
    type: 'object',
    properties: { shop: { type: 'string', enum: ['Berlin'] } },
  });
  expect(schemas.InquiryPayloadOrderLine).toEqual({
    type: 'object',
    properties: { parts: { type: 'array', items: { $ref: '#/components/schemas/InquiryPayloadOrderLine' } } },
  });
  expect(schemas.Payload!.anyOf).toEqual(
    [
      'InquiryPayload',
      'QuotePayload',
      'OrderLinePayload',
      // The names of two types may differ only in what a component cannot have.
      'OrderLinePayload2',
      'Type3dPayload',
      'Payload2',
      'WorkflowErrorPayload',
      'AnyPayload',
    ].map((name) => ({ $ref: `#/components/schemas/${name}` })),
  );
});

it('shows examples of the types and agents of the configuration, which can be sent', async () => {
  const text = JSON.stringify(document);
  expect(text.match(/.{60}(CustomerMessage|classifier|card has not|card_arrival|Intent\b).{20}/g)).toBeNull();
  const examplesOf = (path: string): object[] =>
    Object.values(
      (
        document.paths[path]!.post!.requestBody as {
          content: Record<string, { examples: Record<string, { value: object }> }>;
        }
      ).content['application/json']!.examples,
    ).map(({ value }) => value);
  expect(examplesOf('/api/v1/artifacts')).toEqual([{ type: 'Inquiry', payload: { product: 'Lamp', pieces: 1 } }]);
  for (const path of [
    '/api/v1/artifacts',
    '/api/v1/artifacts/sync',
    '/run/flock',
    '/run/batch',
    '/api/v1/agents/{agent_name}/run',
  ]) {
    for (const example of examplesOf(path)) {
      const { status, body } = await app.http.post(path.replace('{agent_name}', 'quoter')).send(example);
      expect([path, status, body]).toEqual([path, 200, expect.anything()]);
    }
  }
});
