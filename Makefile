# The commands of developers and CI.

BIN := $(CURDIR)/.bin
export GOBIN := $(BIN)

GOLANGCI_LINT := $(BIN)/golangci-lint-v2.15.0
DEADCODE      := $(BIN)/deadcode-v0.50.0
CADDY         := $(BIN)/caddy-v2.11.9
FSCK          := $(BIN)/fsck-v1.0.4
VALE          := $(BIN)/vale-v3.19.0
BIOME         := web/node_modules/.bin/biome

.PHONY: help table run tools test race lint lint-packages lint-rest contract clients module container bench cost profile statistics stream flips failover proxies soak verifiers fuzz generate release chart picture pages page-speed

help: ## list these commands
	@grep -hE '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1\t\2/' | expand -t 14

# A profile, tables for debuggers, cgo, a small heap of the compiler, and functions inlined where no shuffle
# passes cost two fifths of the time: docs/decisions/dependencies.md.
INLINED := runtime internal/runtime/... modernc.org/sqlite/lib ./...
table: ## build the service and riffle into ../table in the shortest time
	CGO_ENABLED=0 GOGC=400 go build -v -pgo=off -ldflags=-w '-gcflags=all=-dwarf=false -l' $(INLINED:%=-gcflags=%=-dwarf=false) -o ../table/ ./cmd/...

run: ## run the service on localhost:8080, its data in ./data
	go run ./cmd/server

tools: ## install what tests need in addition to Go
	bash .ci/tools

# All packages are compiled once: with other settings of cgo or of the profile-guided optimization the
# programs under test would be a second and a third build. Linters vet.
test contract clients pages fuzz verifiers: export CGO_ENABLED := 0
test contract clients pages fuzz verifiers race: export GOFLAGS := $(GOFLAGS) -trimpath -pgo=off
test: tools $(FSCK) $(if $(CI),$(BIOME)) ## run every test, against the real binary, real databases, signals and kills
	$(MAKE) --no-print-directory -j2 test-module test-bench

# bench is a module of its own.
.PHONY: test-module test-bench
test-module:
	go test -vet=off -timeout 20m $(TESTED)
test-bench:
	go -C bench test -vet=off -timeout 20m ./...

# Packages without shared state, tests that repeat one request or function many times, and failovers of real
# databases take long and have no races of their own. Of the program's tests, the concurrent ones run, in CI
# without those that wait for databases and disks, which .ci/nightly runs.
SEQUENTIAL := /(audit|config|deck|fairness|httperror|picture|plan|proof|rng|shoe|shuffle|suggest|web|failovertest)(/|$$)
REPETITIVE := TestStore/HashesByLevel|ElementsOf|StaysBounded|After20Findings|SecretsAreNotPublished|OnlyDocumentedNames|TesseraChecks|MatchTheContract|SharedCaches|FullDiskRecovers|AndBundles|MigrationBuilds|Tampered|DamagedCheckpoint
CONCURRENT := UnderLoad|Concurrent|Shutdown|Stopping|Reload|Spans|ManyReaders$(if $(CI),,|Replica|Lost|SlowDisk)

# CI has two processors: each test runs in it once, with the race detector or without. Packages that take long
# and wait for most of the time come first, so that others run beside them.
TESTED := $(if $(CI),./cmd/server ./internal/ledger/postgres/failovertest $$(go list ./... | grep -v /internal/; go list ./internal/... | grep -E '$(SEQUENTIAL)'),./...)

race: $(FSCK) ## look for data races, in the tests of packages and in the program under load
	go test -race -vet=off -skip '$(REPETITIVE)' ./internal/ledger/postgres ./internal/api ./clients/go $$(go list ./internal/... | grep -v -E '$(SEQUENTIAL)')
	$(if $(CI),CGO_ENABLED=0 go test -vet=off -run '$(REPETITIVE)' ./internal/api ./internal/httpjson ./internal/ledger/...)
	go test -race -vet=off -run '$(CONCURRENT)' ./cmd/server

lint: $(GOLANGCI_LINT) $(DEADCODE) $(VALE) $(BIOME) ## check style, imports between packages, formatting, dead code, prose and generated pages
	bash .ci/generated
	$(MAKE) --no-print-directory -j2 -O lint-packages lint-rest

lint-packages:
	for module in . bench; do (cd $$module && $(GOLANGCI_LINT) run ./... && $(GOLANGCI_LINT) fmt --diff ./...) || exit 1; done

# The pure packages run in tools of others, and the programs on other systems: here they are compiled.
PURE := /(audit|deck|fairness|picture|plan|rng|shoe|shuffle|suggest|ledger/proof)(/|$$)
lint-rest:
	$(VALE) --output=line $$(git ls-files '*.go' '*.md' | grep -v -e testdata/ -e generated)
	$(BIOME) ci --error-on-warnings
	! git ls-files 'web/*.ts' 'web/*.tsx' 'web/*.mjs' 'clients/typescript/*.mjs' 'clients/typescript/src/*.ts' ':!*/contract.ts' | LC_ALL=C.UTF-8 xargs grep -nE '^.{121}'
	GOOS=windows CGO_ENABLED=0 go vet $$(go list ./internal/... | grep -E '$(PURE)')
	for os in windows freebsd darwin; do GOOS=$$os CGO_ENABLED=0 go list -export ./cmd/... >/dev/null || exit 1; done
	go mod verify
	for module in . bench clients/go/generate; do go -C $$module mod tidy -diff || exit 1; done
	for module in . bench; do (cd $$module && out="$$($(DEADCODE) -test ./...)" && if [ -n "$$out" ]; then echo "$$out"; exit 1; fi) || exit 1; done

contract: $(FSCK) ## check openapi.yaml, the generated client, and the service against both
	bash .ci/contract

container: ## build and start the image and the compose project
	bash .ci/container

clients: ## build and install the clients in three languages, and run their scenarios and the examples
	bash .ci/packages

verifiers: ## run the JavaScript and Python verifiers over the test vectors
	bash verifiers/run

fuzz: ## give mutated and forged proofs to the verifiers in Go and JavaScript, for an hour or FOR=10m; a case that fails is a file in testdata/fuzz
	go test ./internal/audit/prooffile -run '^$$' -fuzz FuzzVerifiersAgree -fuzztime $(or $(FOR),1h) -parallel 1

release: ## make a release in dist/, twice, and check it: archives, packages, an image, checksums, provenance
	bash .ci/release

chart: ## give the Helm chart in all its forms to an API server of Kubernetes, install and upgrade it
	bash .ci/chart

picture: ## write the picture of the README anew
	go build -o $(BIN)/server ./cmd/server
	cd web && npm ci --ignore-scripts && PICTURE=write RIFFLE_SERVER=$(BIN)/server node --test test/picture.test.mjs

pages: ## check the pages in a real browser
	bash .ci/pages

page-speed: ## print the first paint of every page, and how long /verify takes, in Chromium
	cd web && npm ci --ignore-scripts
	go build -o $(BIN)/server ./cmd/server
	cd web && RIFFLE_SERVER=$(BIN)/server node speed.mjs

generate: ## generate the clients from openapi.yaml, and the embedded files of the pages
	go generate ./clients/go
	python3 clients/python/generate.py
	cd clients/typescript && npm ci && npm run generate
	cd web && npm ci --ignore-scripts
	go generate ./internal/web

# On this command line PATH is the module's, and the shell needs one of its own.
module: ## rename the Go module everywhere: make module PATH=git.example/games/riffle
	@export PATH=/usr/local/bin:/usr/bin:/bin; bash .ci/module '$(PATH)'

cost: ## compare allocations of common requests with bench/cost/cost.json
	go -C bench test -pgo=../cmd/server/default.pgo ./cost -run Cost -count 1 -v -cost

bench: ## measure the service on two quiet cores and write docs/performance.md and the figures in the README; takes some ten minutes
	taskset -c 0,1 go -C bench test . -run Page -measure -v -count 1 -timeout 0

profile: ## record the profile that the service is built with, cmd/server/default.pgo
	go -C bench test . -run RecordProfile -measure -count 1 -timeout 0

statistics: ## run the statistical tests on fresh seeds, with many more shuffles
	go test ./internal/shuffle -run Statistics -fresh -v -timeout 1h

flips: ## flip every byte of a store, which must be detected or harmless; takes about 20 minutes
	go test ./cmd/riffle -run '^TestFlips$$' -flips all -v -timeout 2h

failover: tools ## cause every fault of a PostgreSQL cluster under Patroni three times, under load; takes about an hour
	go test ./internal/ledger/postgres/failovertest -failover all -v -timeout 3h

proxies: $(CADDY) ## restart and kill replicas behind haproxy, nginx and Caddy, under load; takes about six minutes
	bash .ci/tools haproxy nginx
	go test ./cmd/server -run '^TestProxies' -proxies -caddy $(CADDY) -v -timeout 1h

soak: ## put both engines under load of every route, with a kill each minute, for an hour or FOR=10m
	go test ./cmd/server -run '^TestSoak$$' -soak $(or $(FOR),1h) -v -timeout 0

stream: ## test the raw keystream with dieharder, for an hour or more
	rm -f /tmp/keystream && mkfifo /tmp/keystream
	go test ./internal/rng -run Battery -battery /tmp/keystream -timeout 0 -v & dieharder -g 200 -a </tmp/keystream

$(GOLANGCI_LINT):
	go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv $(BIN)/golangci-lint $@

$(VALE):
	go install github.com/errata-ai/vale/v3/cmd/vale@v3.19.0
	mv $(BIN)/vale $@

$(BIOME): web/package-lock.json
	cd web && npm ci --ignore-scripts --prefer-offline --no-audit --no-fund
	touch $@

$(CADDY):
	CGO_ENABLED=0 go install github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9
	mv $(BIN)/caddy $@

$(FSCK):
	CGO_ENABLED=0 go install github.com/transparency-dev/tessera/cmd/fsck@v1.0.4
	mv $(BIN)/fsck $@

$(DEADCODE):
	go install golang.org/x/tools/cmd/deadcode@v0.50.0
	mv $(BIN)/deadcode $@
