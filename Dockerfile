FROM golang:1.26.8-bookworm AS build
WORKDIR /src

# Without a value Go's own default holds. Where the build cannot reach it: --build-arg GOPROXY=...
ARG GOPROXY

# The modules are a layer of their own, fetched again only when go.mod or go.sum changes.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
ARG VERSION=dev
ARG REVISION=
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION} -X main.commit=${REVISION}" -o /out/bin/ ./cmd/server ./cmd/riffle \
    && install -d -m 0700 /out/root/data /out/root/keys

# Nothing but the service and its offline companion, with which an operator checks what a stopped service has left:
#
#     docker run --rm --network none -v copy:/data --entrypoint /riffle riffle log check
#
# No shell, no package manager, nothing to patch but Go and what go.mod lists. What a "distroless" base would add is not
# used: the service opens no connection but to its database, whose root certificate sslrootcert in the URL names; its
# times are UTC, so no time zones; its user is a number, so no /etc/passwd.
FROM scratch

COPY --from=build /out/bin/ /
# A new volume takes over owner and mode of the folder it is mounted on. The store in /data holds seeds that are still
# secret; /keys is for the key of a log that replicas share. Copied as entries of their parent, because a folder named by
# itself would lose its mode.
COPY --from=build --chown=65532:65532 /out/root/ /

ARG VERSION=dev
ARG REVISION=
LABEL org.opencontainers.image.title="riffle" \
      org.opencontainers.image.description="Provably fair shuffles for game backends, every one in a log anyone can check" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# SQLite sorts what does not fit in memory into temporary files. There is no /tmp, and the root file system is
# meant to be mounted read-only, so they go to the one place that can be written.
ENV RIFFLE_ADDR=:8080 \
    RIFFLE_DATA=/data \
    SQLITE_TMPDIR=/data

# A number, so that Kubernetes' runAsNonRoot can check it.
USER 65532:65532
VOLUME ["/data"]
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 CMD ["/server", "-healthcheck"]
ENTRYPOINT ["/server"]
