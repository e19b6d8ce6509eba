FROM node:22-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json tsconfig.base.json ./
COPY protocol/package.json protocol/
COPY server/package.json server/
COPY server/bin server/bin
COPY client-sdk/package.json client-sdk/
RUN npm ci
COPY protocol protocol
COPY server server
COPY client-sdk client-sdk
# The prune leaves what package-lock.json has for the optional peers of the server, the clients of the model
# providers. That they are there is checked, since agents fail without them; sources, types and source maps are not needed.
RUN npm run build && npm prune --omit=dev \
  && cd server && node --input-type=module -e "await import('openai'); await import('@anthropic-ai/sdk')" \
  && cd .. && rm -rf protocol/src server/src client-sdk/src node_modules/openai/src node_modules/@anthropic-ai/sdk/src \
  && find . -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.tsbuildinfo' \) -delete

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app /app
# the user "node", as a number, by which Kubernetes can tell that it is not root
USER 1000:1000
EXPOSE 7465
# Whether the process works, since some restart what is not healthy. Whether it takes sessions is another question: /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7465/healthz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# tells sessions when to come back, closes them with 1001 and ends: the process itself gets the signal, there is no shell
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "server/bin/remotes-hub.js"]
CMD ["start", "--config", "/etc/remotes-hub/config.json"]
