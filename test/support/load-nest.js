// CommonJS packages such as @willsoto/nestjs-prometheus require Nest, which is ESM. Jest refuses that while it links Nest
// as part of the same graph. This file loads Nest before a test's own imports, so that it is linked by then.
import '@nestjs/common';
import '@nestjs/core';
