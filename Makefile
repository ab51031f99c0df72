# The targets a person uses; each can be repeated and interrupted.
export PULUMI_SKIP_UPDATE_CHECK := true

# A target whose recipe failed half-way is made again.
.DELETE_ON_ERROR:

.PHONY: help docs up down clean test test-types test-quick test-clients test-all nightly stress lint lint-code lint-format lint-imports lint-packages reference schema schema-compare sdks vectors bench bench-faults build review samples pictures gauntlet gauntlet-ci release-dry-run release-verify

help:
	@echo "make up      local broker with the delay network of stack dev"
	@echo "make test-quick    pure code, stand-ins and one broker"
	@echo "make test    all packages on RabbitMQ 3.10 and 4.3, the engine, databases"
	@echo "make test-clients  Kubernetes, other languages' clients and SDKs, vendors' networks"
	@echo "make test-all  both of these in one run, as CI does"
	@echo "make nightly  every test on both brokers, at full length, and an hour of the gauntlet"
	@echo "make stress  one test file again and again while every core is busy (FILE=test/brokers/delivery.test.ts TIMES=20)"
	@echo "make bench   all benches, each a ratio"
	@echo "make bench-faults   what faults of a cluster of three nodes do to messages that wait"
	@echo "make gauntlet  random workloads under random faults, checked by invariants (MINUTES=5 SEED=1); gauntlet-ci runs the same five rounds each time"
	@echo "make review  what the edits of stack dev would do, as a page"
	@echo "make reference  docs/config.md, docs/reference and the schema for editors, from the code"
	@echo "make docs    the documentation as a site, in .local/docs (DOCS_BASE=/path/ where it is not at the root)"
	@echo "make schema  plugin/schema.json, from the components; make schema-compare names what breaks programs since the last release"
	@echo "make sdks    sdk/, from plugin/schema.json"
	@echo "make release-dry-run  all that a release publishes, in .local/release, each installed and used, as a table"
	@echo "make release-verify  the same with what was published"
	@echo "make vectors clients/vectors.json, which clients in other languages are tested with"
	@echo "make samples the sample reviews of docs/reviews, made anew; make pictures draws the one of the README"
	@echo "make down    stop the local broker"
	@echo "make clean   forget local broker, state and build"

# Newer than the lock file: nothing to install.
node_modules/.package-lock.json: package-lock.json package.json packages/*/package.json components/package.json plugin/package.json
	@# Node's own headers, where they came with it: SQLite's driver is compiled where there is no ready build of it.
	@headers=$$(node -p 'path.resolve(process.execPath, "../..")'); \
	test ! -f "$$headers/include/node/node.h" || export npm_config_nodedir="$$headers"; \
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

build: node_modules/.package-lock.json
	@npx tsc -b

up: build
	@node toolchain/dist/main.js up

# Where a broker was started and the toolchain is gone, it is built again to stop it.
down:
	@test -f toolchain/dist/main.js || test ! -f .local/broker.json || $(MAKE) build
	@test ! -f toolchain/dist/main.js || node toolchain/dist/main.js down

clean:
	@test -f toolchain/dist/main.js || test ! -f .local/broker.json || $(MAKE) build
	@test ! -f toolchain/dist/main.js || node toolchain/dist/main.js clean
	rm -rf dist */dist packages/*/dist clients/dotnet/*/bin clients/dotnet/*/obj clients/java/target site/pages .local

# What is published: without the command's package, which nobody imports.
LIBRARIES := components $(filter-out packages/cli,$(wildcard packages/*))
lint: build
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint-code lint-format lint-imports lint-packages

lint-code:
	npx eslint .
lint-format:
	npx prettier --check --log-level warn .
lint-imports:
	npx depcruise --config .dependency-cruiser.cjs packages/*/src components plugin program site/src index.ts clients toolchain/src test bench
lint-packages:
	@for package in $(LIBRARIES) packages/cli; do npx publint --strict $$package >&2 || exit 1; done
	@for package in $(LIBRARIES); do npx attw --pack $$package --profile node16 --quiet || exit 1; done

# Replaces the shell, so a signal to make reaches Node.
TS_NODE := TS_NODE_PROJECT=tsconfig.test.json V8_COMPILE_CACHE_CACHE_DIR="$(CURDIR)/node_modules/.cache/v8-compile-cache" exec node -r ts-node/register/transpile-only
RUN_TIER := $(TS_NODE) test/support/runTier.ts

# The tests' own types; what is checked once is not checked again.
test-types: build
	@npx tsc -p tsconfig.test.json

# Pure code, stand-ins, and what one broker answers at once.
test-quick: test-types
	@$(RUN_TIER) quick

# All packages on both brokers, the engine with one of them for each test, and databases.
test: test-types
	@node toolchain/dist/main.js prepare-tests
	@$(RUN_TIER) test

# Other programs and vendors: Kubernetes, other languages' clients and SDKs, networks that vendors' clients have in use.
test-clients: test-types
	@node toolchain/dist/main.js prepare-tests clients
	@$(RUN_TIER) clients

test-all: test-types
	@node toolchain/dist/main.js prepare-tests clients
	@$(RUN_TIER) clients test

# All of it at full length: every test on both brokers, all rounds of each, and an hour of the gauntlet, whose figures go to
# docs/reliability.md.
nightly:
	@RABBITMQ_DELAY_TEST_LENGTH=full $(MAKE) --no-print-directory test-all
	@$(MAKE) --no-print-directory gauntlet MINUTES=60 REPORT=docs/reliability.md FLAGS=--keep-going

# A test of your own, TIMES times while every core is busy: make stress FILE=test/brokers/delivery.test.ts TIMES=20
TIMES ?= 20
stress:
	@test -f "$(FILE)" || { echo 'FILE: "$(FILE)" is not allowed; it must be a test file' >&2; exit 2; }
	@expr "$(TIMES)" : '[1-9][0-9]*$$' >/dev/null || { echo 'TIMES: "$(TIMES)" is not allowed; it must be a number from 1' >&2; exit 2; }
	@$(MAKE) --no-print-directory test-types
	@$(TS_NODE) test/support/stress.ts "$(FILE)" $(TIMES)

# STACK and BROKER may name others; the page opens where there is a browser.
STACK ?= dev
review: build
	@test -f .local/env || { echo "run make up first" >&2; exit 2; }
	@. .local/env && npx rabbitmq-delay review --stack $(STACK) --management "$${BROKER:-$$RABBITMQ_MANAGEMENT_URL}" \
		--fail-on never --format html --output .local/review.html
	@echo "$(CURDIR)/.local/review.html"
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] && command -v xdg-open >/dev/null; then xdg-open .local/review.html; \
	elif [ "$$(uname)" = Darwin ]; then open .local/review.html; fi

reference: build
	@node dist/program/reference/write.js
	@node dist/site/src/reference/write.js

# VitePress has a lock file of its own, and is installed for this target alone.
site/node_modules/.package-lock.json: site/package-lock.json site/package.json
	npm ci --prefix site --no-audit --no-fund --loglevel=error
	@touch $@

docs: build site/node_modules/.package-lock.json
	@node dist/site/src/write.js site/pages
	@cd site && npx --no-install vitepress build
	@echo "$(CURDIR)/.local/docs"

schema: build
	@node plugin/dist/commands/writeSchema.js

schema-compare: build
	@node plugin/dist/commands/compare.js

sdks: schema
	@node toolchain/dist/main.js sdks

# Everything that the release workflow does, but for the upload; compiled anew, because what is left of sources that are gone would be packed.
release-dry-run: node_modules/.package-lock.json
	rm -rf dist */dist packages/*/dist
	@npx tsc -b
	@node toolchain/dist/main.js release-dry-run

# The same with what was published, once it is.
release-verify: build
	@node toolchain/dist/main.js release-verify

vectors: build
	@node dist/clients/vectors/write.js

samples: build
	@node toolchain/dist/main.js prepare-tests
	UPDATE_SAMPLES=1 CI=true npx mocha test/engine/reviewSamples.test.ts

# Needs Chromium, and a font with emoji.
pictures: site/node_modules/.package-lock.json
	@cd site && node reviewPicture.mjs

bench: build
	@node toolchain/dist/main.js prepare-tests
	npx ts-node -T -P tsconfig.test.json bench/all.ts

# Three nodes of RabbitMQ 4.3 in networks of their own; as root.
bench-faults: build
	@node toolchain/dist/main.js prepare-tests
	npx ts-node -T -P tsconfig.test.json bench/faults.ts

# Random workloads under random faults on both brokers. MINUTES, SEED, ROUNDS, ONLY (mechanisms), FAULTS, BROKER, REPORT (a file) aim it; FLAGS
# are further ones (make gauntlet FLAGS=--help). A seed repeats its rounds.
gauntlet: build
	@$(TS_NODE) test/gauntlet/main.ts \
		$(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) $(if $(ROUNDS),--rounds $(ROUNDS)) \
		$(if $(ONLY),--only $(ONLY)) $(if $(FAULTS),--faults $(FAULTS)) $(if $(BROKER),--broker $(BROKER)) \
		$(if $(REPORT),--report $(REPORT)) $(FLAGS)

# The same five rounds each time, all of them whatever fails.
gauntlet-ci: build
	@$(MAKE) --no-print-directory gauntlet SEED=2 ROUNDS=5 MINUTES=60 FLAGS="--keep-going --shrink 60 $(FLAGS)"
