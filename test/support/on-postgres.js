globalThis.TEST_DATABASE = 'postgres';
