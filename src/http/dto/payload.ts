/**
 * Name of the component that stands for the payload of any configured type. Each process makes it from its own
 * configuration.
 */
export const PAYLOAD = 'Payload';
