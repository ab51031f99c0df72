# The command rabbitmq-delay, with the store and the gateway, as the Deployments of DelayedMessageStore and DelayGateway run it:
#   docker build --tag registry.example.com/rabbitmq-delay:0.1.0 .
# It has no shell, runs as nobody in particular, and writes nothing to its own files: docker run --read-only works.
FROM node:22.21.1-bookworm AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc tsconfig.base.json ./
COPY components/package.json components/
COPY plugin/package.json plugin/
COPY packages packages
# The compiler, for the packages that the command is made of.
RUN npm ci --ignore-scripts
RUN npx tsc -b packages/cli
# What runs, in the versions of package-lock.json.
RUN npm ci --workspace packages/cli --omit=dev --ignore-scripts
RUN rm -rf packages/*/src packages/*/tsconfig.json packages/*/dist/.tsbuildinfo
# SQLite's driver is a program of this platform.
RUN npm rebuild better-sqlite3

FROM gcr.io/distroless/nodejs22-debian12:nonroot
COPY --from=build /build/node_modules /app/node_modules
COPY --from=build /build/packages /app/packages
COPY container/rabbitmq-delay /app/bin/rabbitmq-delay
COPY LICENSE /app/LICENSE
ENV NODE_ENV=production PATH=/app/bin:/nodejs/bin:/usr/local/bin:/usr/bin:/bin
USER 1000:1000
ENTRYPOINT ["rabbitmq-delay"]
CMD ["--help"]
