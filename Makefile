# The targets a person uses; each can be repeated and interrupted.
export PULUMI_SKIP_UPDATE_CHECK := true

.PHONY: help up down clean test lint bench build

help:
	@echo "make up      local broker with the delay network of stack dev"
	@echo "make test    all tests, on RabbitMQ 3.10 and 4.3"
	@echo "make bench   all benches, each a ratio"
	@echo "make down    stop the local broker"
	@echo "make clean   forget local broker, state and build"

# Newer than the lock file: nothing to install.
node_modules/.package-lock.json: package-lock.json package.json packages/*/package.json components/package.json
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

build: node_modules/.package-lock.json
	@npx tsc -b

up: build
	@node toolchain/dist/main.js up

down:
	@test ! -f toolchain/dist/main.js || node toolchain/dist/main.js down

clean:
	@test ! -f toolchain/dist/main.js || node toolchain/dist/main.js clean
	rm -rf dist */dist packages/*/dist .local

lint: build
	npx eslint .
	npx prettier --check --log-level warn .

test: build lint
	@node toolchain/dist/main.js prepare-tests
	npx tsc -p tsconfig.test.json
	TS_NODE_PROJECT=tsconfig.test.json npx mocha

bench: build
	@node toolchain/dist/main.js prepare-tests
	npx ts-node -T -P tsconfig.test.json bench/all.ts
