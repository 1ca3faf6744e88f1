/**
 * Moves the examples of optional parameters into their descriptions. Swagger UI would otherwise send all of them: every
 * filter of a list, and the same idempotency key each time. Without `validatorUrl: null` it sends the address of the
 * document to swagger.io.
 */
export const START_SWAGGER_UI = `function describeExample(parameter) {
  if (parameter.required) return parameter;
  const { example, schema, ...rest } = parameter;
  const { example: schemaExample, ...restOfSchema } = schema;
  const text = JSON.stringify(example ?? schemaExample);
  return { ...rest, schema: restOfSchema, description: text ? parameter.description + ' Example: \`' + text + '\`' : parameter.description };
}

function leaveOptionalParametersEmpty(document) {
  for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
    operation.parameters = operation.parameters?.map(describeExample);
  }
  return document;
}

const emptyParameters = () => ({
  statePlugins: { spec: { wrapActions: { updateJsonSpec: (update) => (document) => update(leaveOptionalParametersEmpty(document)) } } },
});

window.ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#swagger-ui',
  deepLinking: true,
  tryItOutEnabled: true,
  validatorUrl: null,
  plugins: [emptyParameters],
});
`;

/** Search is off because it runs in a worker made from a blob, which the content security policy forbids. */
export const START_REDOC = `Redoc.init('/openapi.json', { disableSearch: true }, document.getElementById('redoc'));
`;
