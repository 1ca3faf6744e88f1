FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY src ./src
RUN npm run build

FROM node:24.21.0-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY bin ./bin
COPY examples ./examples
# A volume takes over the owner of the folder that it is mounted on.
RUN mkdir data && chown node:node data
USER node
VOLUME /app/data
# Loopback would be the container's own.
ENV STARLING_HOST=0.0.0.0
EXPOSE 8344
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8344/health').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["bin/starling.js"]
CMD ["serve", "--config", "examples/support-desk/starling.yaml"]
