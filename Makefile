# make demo      the main job, on three examples        make build   build/kw alone
# make test      build and pass the tests               make bench   what the engine itself takes
# make test-all  the slow tests too                     make fuzz    libFuzzer on every input format
# make format, make lint                                (both set up what they need)
# `demo` and `test` install what is missing, or print the line that does; both are quick when nothing changed.
SHELL := /bin/bash
BUILD := build
JOBS := $(shell nproc)
NINJA := ninja -C $(BUILD) -j $(JOBS)
PYTHON := .venv/bin/python
FUZZ_SECONDS := 60
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.h' '*.cpp' '*.cc' ':!tests/golden')

.PHONY: demo test test-all build bench fuzz format check-format lint packages clean

demo: packages build
	@tools/demo.sh

test: packages .venv/ready $(BUILD)/build.ninja
	@$(NINJA)
	@PYTHON=$(PYTHON) BUILD=$(BUILD) tools/run_tests.sh

test-all: packages .venv/ready $(BUILD)/build.ninja
	@$(NINJA) all benchmarks
	@PYTHON=$(PYTHON) BUILD=$(BUILD) tools/run_tests.sh --slow

build: $(BUILD)/build.ninja
	@$(NINJA) kw

bench: packages .venv/ready $(BUILD)/build.ninja
	@$(NINJA) kw benchmarks
	@PYTHON=$(PYTHON) BUILD=$(BUILD) tools/run_benchmarks.sh

fuzz:
	@tools/install_packages.sh build develop
	@FUZZ_SECONDS=$(FUZZ_SECONDS) tools/run_fuzzers.sh

format: .venv/ready
	@tools/install_packages.sh develop
	@clang-format-14 -i $(SOURCES)
	@$(PYTHON) -m ruff format --quiet .
	@$(PYTHON) -m ruff check --quiet --fix .

check-format: .venv/ready
	@tools/install_packages.sh develop
	@for file in $(SOURCES); do clang-format-14 $$file | cmp -s - $$file || { echo "$$file wants 'make format'"; bad=1; }; done; \
	  [[ -z "$$bad" ]]
	@$(PYTHON) -m ruff format --quiet --check .
	@$(PYTHON) -m ruff check --quiet --output-format concise .

lint: check-format $(BUILD)/build.ninja
	@$(NINJA) embedded/files.cpp
	@run-clang-tidy-14 -quiet -p $(BUILD) -j $(JOBS) '/src/'

packages:
	@tools/install_packages.sh build

.venv/ready: tools/requirements.txt tools/make_venv.sh | packages
	@tools/make_venv.sh
	@touch $@

$(BUILD)/build.ninja:
	@command -v cmake ninja > /dev/null || { echo "cmake or ninja is missing: 'make demo' installs them" >&2; exit 4; }
	@cmake -S . -B $(BUILD) -G Ninja

clean:
	@rm -rf $(BUILD) build-fuzz
