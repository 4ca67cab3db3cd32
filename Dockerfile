# To pin the digest of your registry: docs/operations/README.md, "Containers".
FROM golang:1.26.8-bookworm AS build
WORKDIR /src

# Empty means Go's default proxy. If the build cannot reach it, use --build-arg GOPROXY=...
ARG GOPROXY

# Modules are a separate layer, downloaded again only when go.mod or go.sum changes.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
ARG VERSION=dev
ARG REVISION=
ARG DATE=
RUN CGO_ENABLED=0 go build -trimpath -pgo cmd/server/default.pgo -ldflags "-s -w -X riffle/internal/release.version=${VERSION} -X riffle/internal/release.commit=${REVISION} -X riffle/internal/release.date=${DATE}" -o /out/bin/ ./cmd/server ./cmd/riffle \
    && install -d -m 0700 /out/root/data /out/root/keys

# The image of a release takes the programs of its archives instead of the stage above: .ci/release.
#
# The image contains only the service and its offline companion, which checks the data of a stopped
# service:
#
#     docker run --rm --network none -v copy:/data --entrypoint /riffle riffle log check
#
# There is no shell and no package manager, so only Go and the modules in go.mod ever need patches.
# The service needs none of the files of a "distroless" base: its only outgoing connections are to
# its database, whose root certificate is named by sslrootcert in the URL, and to a collector of
# traces, whose is named by OTEL_EXPORTER_OTLP_CERTIFICATE; its times are UTC, so it needs no time
# zones; its user is numeric, so it needs no /etc/passwd.
FROM scratch

COPY --from=build /out/bin/ /
# A new volume inherits owner and mode of the directory it is mounted on. The store in /data
# contains secret seeds; /keys is for the keys that replicas of one log share. COPY keeps the mode
# only of entries of the source directory, so the parent is copied.
COPY --from=build --chown=65532:65532 /out/root/ /

ARG VERSION=dev
ARG REVISION=
LABEL org.opencontainers.image.title="riffle" \
      org.opencontainers.image.description="Provably fair shuffles for game backends, every one in a log anyone can check" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# SQLite sorts in temporary files when memory is short. There is no /tmp, and the root file system
# is meant to be mounted read-only, so they go to the only writable place.
ENV RIFFLE_ADDR=:8080 \
    RIFFLE_DATA=/data \
    SQLITE_TMPDIR=/data

# Numeric, so that Kubernetes' runAsNonRoot can check it.
USER 65532:65532
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["/server", "--healthcheck"]
ENTRYPOINT ["/server"]
