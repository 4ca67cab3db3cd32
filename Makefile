# What a developer and CI run.

BIN := $(CURDIR)/.bin
export GOBIN := $(BIN)

GOLANGCI_LINT := $(BIN)/golangci-lint-v2.15.0
STATICCHECK   := $(BIN)/staticcheck-v0.8.1
DEADCODE      := $(BIN)/deadcode-v0.50.0

.PHONY: run test race lint contract container bench cost profile statistics stream flips verifiers generate

run: ## the service on localhost:8080, its ledger in ./data
	go run ./cmd/server

test: ## every test, against the real binary, SQLite files, signals and kills
	bash .ci/tools
	go test ./...

race: ## the same under the race detector
	go test -race ./...

lint: $(GOLANGCI_LINT) $(STATICCHECK) $(DEADCODE) ## linters, the arrows between packages, formatting, dead code
	$(GOLANGCI_LINT) run ./...
	$(GOLANGCI_LINT) fmt --diff ./...
	$(STATICCHECK) ./...
	out="$$($(DEADCODE) -test ./...)" && if [ -n "$$out" ]; then echo "$$out"; exit 1; fi
	go mod verify
	go mod tidy -diff

contract: ## openapi.yaml against its linter, the generated client and the service
	bash .ci/contract

container: ## the image and the compose project, built and started
	bash .ci/container

verifiers: ## the JavaScript and the Python verifier, over the vectors
	bash verifiers/run

generate: ## the client from openapi.yaml
	go generate ./client

cost: ## what requests on the hot path allocate, and their instructions, against bench/cost/cost.json
	go run -pgo=cmd/server/default.pgo ./bench/cost

bench: ## every scenario of bench, of which the last writes docs/performance.md; takes about half an hour
	go test -run '^$$' -bench . ./internal/shuffle
	go run ./bench kernels
	go run ./bench commits
	go run ./bench commits --sync 200us
	go run ./bench throughput
	go run ./bench deckofcards
	go run ./bench growth
	go run ./bench performance

profile: ## makes the profile that go build builds the service by, cmd/server/default.pgo
	go run ./bench profile

statistics: ## the long run of the statistics, on fresh seeds
	go test ./internal/shuffle -run Statistics -fresh -v -timeout 1h

flips: ## every byte of a store flipped, to be detected or harmless; takes about 20 minutes
	go test ./cmd/riffle -run '^TestFlips$$' -flips all -v -timeout 2h

stream: ## the raw keystream through ent and dieharder
	bash bench/rawstream.sh

$(GOLANGCI_LINT):
	go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	mv $(BIN)/golangci-lint $@

$(STATICCHECK):
	go install honnef.co/go/tools/cmd/staticcheck@v0.8.1
	mv $(BIN)/staticcheck $@

$(DEADCODE):
	go install golang.org/x/tools/cmd/deadcode@v0.50.0
	mv $(BIN)/deadcode $@
