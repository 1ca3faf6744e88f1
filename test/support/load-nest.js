// CommonJS packages such as @willsoto/nestjs-prometheus require Nest, which is ESM. Jest refuses that while Nest is being
// linked as part of the same graph; loaded here, before a test's own imports, it is there already.
import '@nestjs/common';
import '@nestjs/core';
