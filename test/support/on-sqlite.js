globalThis.TEST_DATABASE = 'sqlite';
