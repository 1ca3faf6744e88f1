# A tag can move to another image, a digest cannot: docs/deployment.md says how to pin one.
ARG NODE_IMAGE=node:24.21.0-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
COPY stubs ./stubs
RUN npm ci
COPY tsconfig.json tsconfig.build.json nest-cli.json vite.config.ts ./
COPY src ./src
COPY dashboard ./dashboard
COPY licenses ./licenses
RUN npm run build

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
COPY stubs ./stubs
# The second command installs the packages that only some configurations need, in the versions of the lock file.
RUN npm ci --omit=dev && \
    npm install --no-save --omit=dev $(node -p "const { peerDependencies, devDependencies } = require('./package.json'); Object.keys(peerDependencies).map((name) => name + '@' + devDependencies[name]).join(' ')")

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY package.json ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist/bundle ./dist/bundle
COPY --from=build /app/dist/dashboard ./dist/dashboard
COPY --from=build /app/dist/library ./dist/library
COPY --from=build /app/dist/page-files ./dist/page-files
COPY bin ./bin
COPY clients ./clients
COPY examples ./examples
COPY templates ./templates
# The service may write only to this folder. A volume gets the owner of the folder on which it is mounted.
RUN mkdir data && chown node:node data
# A number, so that Kubernetes can check that it is not root's.
USER 1000
# The loopback address would be reachable only inside the container.
ENV STARLING_HOST=0.0.0.0
EXPOSE 8344
# Checks liveness and not readiness: some hosts replace unhealthy containers, which would not bring back a lost database.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8344/health/live').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/app/bin/starling.js"]
CMD ["serve", "--config", "examples/support-desk/starling.yaml"]
