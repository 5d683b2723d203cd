# pigeonpost for a PostgreSQL and a Temporal of your own (docs/deployment.md): it has no embedded store and no Temporal server.
# To pin the base: --build-arg NODE_IMAGE=node:24-bookworm-slim@sha256:… (docs/deployment.md says how to find the digest).
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No package needs its install script, so none is run.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# sbom.cdx.json lists what the image has of npm (CycloneDX); npm cannot list a pruned folder.
RUN npm run build && npm sbom --sbom-format=cyclonedx --omit=dev > sbom.cdx.json \
  && npm prune --omit=dev --ignore-scripts --no-audit --no-fund && node tools/trim-image.mjs

FROM ${NODE_IMAGE}
ARG VERSION=0.1.0
LABEL org.opencontainers.image.title="pigeonpost" \
  org.opencontainers.image.description="Delivers what an audience does at an event to the systems where people already work, on Temporal" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.licenses="MIT"
# Node brings its own certificates; the connection to Temporal by TLS is native code and reads the system's. Not pinned: a
# version is gone from Debian with its next security fix.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && install --directory --owner=1000 --group=1000 --mode=0700 /var/lib/pigeonpost
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/sbom.cdx.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/docs ./docs
COPY --from=build /app/README.md ./
COPY --from=build /app/CHANGELOG.md ./
COPY --from=build /app/CONTRIBUTING.md ./
COPY --from=build /app/SECURITY.md ./
ENV NODE_ENV=production
# "node" of the image, by number: Kubernetes' runAsNonRoot cannot know a name.
USER 1000:1000
EXPOSE 8088
VOLUME /var/lib/pigeonpost
# Of "start" and "api", where server.port says. A "worker" answers where its --listen says: give it a check with that address
# in the place of the file, or none. A long migration keeps a process from being ready, and is no reason to end it.
HEALTHCHECK --interval=15s --timeout=5s --start-period=10m --start-interval=2s --retries=3 \
  CMD ["node", "/app/dist/worker/healthcheck.js", "/etc/pigeonpost/pigeonpost.yaml"]
ENTRYPOINT ["node", "/app/dist/cli/main.js", "--config", "/etc/pigeonpost/pigeonpost.yaml"]
CMD ["start"]
