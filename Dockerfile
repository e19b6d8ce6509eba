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
RUN npm run build && npm prune --omit=dev

FROM node:22-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build /app /app
USER node
EXPOSE 7465
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:7465/readyz').then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "server/bin/remotes-hub.js"]
CMD ["start", "--config", "/etc/remotes-hub/config.json"]
