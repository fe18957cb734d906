# Varve's everyday commands. `make help` lists them.
#
# Everything is built once, with the release profile, into one target folder outside the checkout
# (scripts/cargo.sh says where), so that a fresh clone on the same machine starts in minutes. `target` in the checkout
# is a link to that folder. RocksDB is compiled once, by scripts/rocksdb.sh.

SHELL := /bin/bash
LISTEN ?= 127.0.0.1:8080
DATA_DIR ?= data
NODES ?= 1
CARGO := scripts/cargo.sh

.DEFAULT_GOAL := help
.PHONY: help setup build run dist cassandra run-cassandra cassandra-stop test quick check fmt lint example long-test docs clean bench-jmeter bench-compare bench-gremlin bench-auth bench-micro bench-cassandra bench-reports

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

setup: ## install what the build needs (as root on Debian or Ubuntu), or say what is missing
	@scripts/setup.sh

build: setup ## build the server and the load tool: target/release/varve, target/release/varve-bench
	@scripts/build.sh

run: setup ## build the server, and serve on $(LISTEN) with the data in ./$(DATA_DIR)
	@scripts/build.sh server
	exec target/release/varve serve --listen $(LISTEN) --data-dir $(DATA_DIR)

dist: build ## packages, in dist/: stripped binaries, Debian package, Python wheel, checksums
	@VARVE_BIN=target/release/varve scripts/dist.sh

cassandra: ## start $(NODES) Apache Cassandra nodes on 127.0.0.1:9042, .2, .3 (needs Java 17 and Maven)
	@VARVE_CASSANDRA_NODES=$(NODES) scripts/cassandra/cluster.sh start

cassandra-stop: ## stop those nodes and remove their data
	@scripts/cassandra/cluster.sh clean

run-cassandra: setup cassandra ## serve on $(LISTEN) with the data in those nodes, on each of them
	@scripts/build.sh server
	exec target/release/varve serve --listen $(LISTEN) --engine cassandra --set storage.cassandra.replication=$(NODES)

bench-cassandra: setup ## processor time of a batch on one Cassandra node, beside the bare driver writing the same rows
	@scripts/cassandra/cost.sh

quick: setup ## format, clippy, unit tests, models, HTTP in memory: minutes
	@scripts/test.sh quick

test: setup ## all checks and tests that CI runs
	@scripts/test.sh

check: ## type-check everything but the storage engine, fast
	$(CARGO) check --workspace --exclude varve-kv-rocksdb --exclude varve --all-targets
	$(CARGO) check -p varve --no-default-features --all-targets

fmt: ## format the code
	$(CARGO) fmt --all

lint: setup ## formatting and clippy, warnings are errors
	@scripts/lint.sh

example: build ## load the air routes and ask about them, now and in the past
	@examples/air-routes/run.sh

long-test: build ## the long runs: crash tests with 50 rounds, 100 power cuts, every fail point three times, more property test cases, model lists and fuzzing, timed logins, 100,000 traversals beside TinkerGraph, 20,000 statements beside Neo4j, sessions of Gremlin for ten minutes, betweenness of 10,000 vertices, faults of a cluster
	VARVE_CRASH_ROUNDS=$${VARVE_CRASH_ROUNDS:-50} VARVE_METADATA_CRASH_ROUNDS=$${VARVE_METADATA_CRASH_ROUNDS:-50} VARVE_POWER_ROUNDS=$${VARVE_POWER_ROUNDS:-100} VARVE_FAIL_POINT_HITS=$${VARVE_FAIL_POINT_HITS:-3} \
	PROPTEST_CASES=$${PROPTEST_CASES:-2000} \
	VARVE_MODEL_LISTS=$${VARVE_MODEL_LISTS:-10000} VARVE_OMRS_MODEL_LISTS=$${VARVE_OMRS_MODEL_LISTS:-2000} VARVE_FUZZ_ROUNDS=$${VARVE_FUZZ_ROUNDS:-10000000} \
	VARVE_LOGIN_ROUNDS=$${VARVE_LOGIN_ROUNDS:-5000} VARVE_TRAVERSAL_GRAPHS=$${VARVE_TRAVERSAL_GRAPHS:-100000} VARVE_TEST_CYPHER_HISTORIES=$${VARVE_TEST_CYPHER_HISTORIES:-2000} VARVE_GREMLIN_TRAVERSALS=$${VARVE_GREMLIN_TRAVERSALS:-100000} VARVE_TINKERGRAPH_TRAVERSALS=$${VARVE_TINKERGRAPH_TRAVERSALS:-100000} VARVE_TEST_NEO4J_STATEMENTS=$${VARVE_TEST_NEO4J_STATEMENTS:-20000} VARVE_CUT_SECONDS=$${VARVE_CUT_SECONDS:-600} VARVE_SESSION_SECONDS=$${VARVE_SESSION_SECONDS:-600} VARVE_HOSTILE_LONG=$${VARVE_HOSTILE_LONG:-1} VARVE_SERVERS_TRIES=$${VARVE_SERVERS_TRIES:-1000} \
	FULL=$${FULL:-1} VARVE_CLUSTER_ROUNDS=$${VARVE_CLUSTER_ROUNDS:-3} VARVE_CLUSTER_SECONDS=$${VARVE_CLUSTER_SECONDS:-30} scripts/test.sh long

bench-jmeter: build ## the load tool against the real JMeter: 20 minutes (RAMP, HOLD and others: bench/jmeter/compare.sh)
	RAMP=$${RAMP:-5} HOLD=$${HOLD:-55} bench/jmeter/compare.sh

bench-compare: build ## Varve and a real HugeGraph in turns, with ratios: half an hour (REPEATS and others: bench/peers/compare.sh)
	bench/peers/compare.sh

bench-gremlin: build ## Gremlin on Varve, HugeGraph, JanusGraph and TinkerGraph in turns, with ratios: 20 minutes (bench/peers/gremlin.sh)
	bench/peers/gremlin.sh

bench-auth: build ## what authentication and TLS cost a point read, by turns: 6 minutes (bench/auth.sh)
	bench/auth.sh

bench-reports: build ## the pages of reports, in target/bench-reports: ten minutes (scripts/bench-reports.sh)
	@scripts/bench-reports.sh

bench-micro: ## instructions of the hot paths against the baseline; over 5 % more fails
	@bench/micro/run.sh

docs: build ## write docs/configuration.md and the tables of docs/rest.md and docs/operating.md anew from the code
	target/release/varve config --markdown > docs/configuration.md
	VARVE_UPDATE_DOCS=1 $(CARGO) test --release --locked --workspace --test documents

clean: ## remove what was built of Varve itself; RocksDB's objects and your data stay
	@scripts/clean.sh
