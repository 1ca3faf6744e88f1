/**
 * Swagger UI would fill in the example of every optional parameter: all filters of a list at once, and one idempotency key
 * for ever. They move into the descriptions. `validatorUrl: null`: else it sends the document's address to swagger.io.
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

/** Search is off: it runs in a worker made of a blob, which the policy forbids. */
export const START_REDOC = `Redoc.init('/openapi.json', { disableSearch: true }, document.getElementById('redoc'));
`;
