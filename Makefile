# make test    everything, on a clean machine
# make build   bin/executor
# make faults  each fault of testdata/faults is caught by the test it names
# make bench   figures, as a table

CACHE := $(CURDIR)/.cache

.PHONY: build test quick install-tools fmt fmt-check vet lint types bench faults clean

build:
	go build -trimpath -o bin/executor ./cmd/executor

# The last thing that runs is go test, so its summary ends the output.
test: install-tools fmt-check vet lint types
	EXECUTOR_E2E=full go test -race -timeout 12m ./...

# What needs nothing installed; stories that want a real server are skipped.
quick: fmt-check vet
	go test ./...

install-tools:
	@bash scripts/install.sh

fmt:
	gofmt -w $$(git ls-files '*.go')

fmt-check:
	@bad=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$bad" ]; then echo "not gofmt: $$bad"; exit 1; fi

vet:
	go vet ./...

lint: install-tools
	$(CACHE)/bin/golangci-lint run ./...

# What is generated for GitHub's and Stripe's tools is TypeScript, says its compiler.
types: install-tools
ifneq ($(EXECUTOR_CORPUS),)
	@mkdir -p $(CACHE)/signatures
	EXECUTOR_SIGNATURES=$(CACHE)/signatures go test -race -run TestSignatures ./catalog
	$(CACHE)/npm/node_modules/.bin/tsc --noEmit --strict $(CACHE)/signatures/*.d.ts
endif

bench: install-tools
	bash scripts/bench.sh

faults:
	bash scripts/faults.sh

clean:
	rm -rf bin .cache
