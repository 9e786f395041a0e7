# The bus in a container, for the SDK's `docker` backend and by hand; the hub: deploy/compose.yaml.
#   docker build --tag localhost/synod-bus:0.1.0 .
#   docker run --rm --init -p 127.0.0.1:8765:8765 -v "$PWD/config.json:/app/config.json:ro" \
#     -e SYNOD_BUS_TOKEN localhost/synod-bus:0.1.0 --config /app/config.json --tcp 0.0.0.0:8765
# It builds from a checkout and from the installed package alike: the first runs its sources, the
# second what was built from them.
FROM node:24-slim AS packages
WORKDIR /opt/synod
COPY . .
RUN rm -rf node_modules \
 && npm install --omit=dev --ignore-scripts --no-audit --no-fund \
 && npm install --no-save --omit=dev --ignore-scripts --no-audit --no-fund \
      @agentclientprotocol/sdk@2 @modelcontextprotocol/client@2 \
      @nats-io/transport-node@3 @nats-io/jetstream@3

FROM node:24-slim
COPY --from=packages /opt/synod /opt/synod
# By the names of the reference: its configs name the binary, its launcher, and the path of the latter.
RUN ln -s /opt/synod/bin/synod /usr/local/bin/synod \
 && ln -s /opt/synod/bin/stdio-bus.js /usr/local/bin/stdio_bus \
 && ln -s /opt/synod/bin/stdiobus.js /usr/local/bin/stdiobus \
 && ln -s /opt/synod/bin/stdiobus.js /usr/local/bin/workers-registry \
 && mkdir -p /workers-registry/launch /app \
 && install -d -o node -g node -m 700 /data /keys \
 && ln -s /opt/synod/bin/stdiobus.js /workers-registry/launch/index.js
WORKDIR /app
USER node
EXPOSE 8765
ENTRYPOINT ["stdio_bus"]
CMD ["--config", "/app/config.json", "--stdio"]
