# Everything a developer or a newcomer runs. Only python3, make and a C++ compiler are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two workers share the cores: with more BLAS threads each they would wait for one another.
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2
SOURCES := $(shell find core src CMakeLists.txt pyproject.toml -type f -not -name '*.pyc' -not -name '_core.pyi' 2>/dev/null)

.PHONY: demo check test test-all test-oldest docs docs-quick bench bench-page bench-defaults bench-survival bench-against bench-strings bench-mnist bench-accuracy lint format sanitize \
	sanitize-threads fuzz faults coverage cross cross-windows dist papers trace clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip

# The package with what tests and demo need, built anew when a source has changed.
$(VENV)/installed: $(BIN)/python $(SOURCES)
	@echo 'compiling and installing into $(VENV): a minute or two on two cores'
	$(BIN)/pip install --quiet '.[test]'
	touch $@

$(VENV)/linters: $(BIN)/python
	$(BIN)/pip install --quiet clang-format mypy numpydoc ruff
	touch $@

demo: $(VENV)/installed
	$(BIN)/kernelweave demo

# What a change must pass, in the order of cost: style and types, documents, all other tests.
check: lint
	$(PYTEST) -x tests/docs/test_docs.py tests/test_release.py
	$(PYTEST) tests --ignore tests/docs/test_docs.py --ignore tests/test_release.py

# The tests that take five minutes on two cores; test-all has all of them.
test: $(VENV)/installed
	$(PYTEST) -m 'not slow' tests

test-all: $(VENV)/installed
	$(PYTEST) tests

# The lowest versions of dependencies that pyproject.toml allows, on the oldest Python, in an environment of
# its own: the tests that meet them (estimators, masters on HiGHS, frames, pictures, files, commands).
OLDEST ?= python3.10
OLDEST_TESTS := tests/estimators/test_estimators.py tests/optimization/steps/test_master.py tests/optimization/test_solve.py tests/optimization/methods/test_qcqp.py tests/kernels/data/test_views.py \
	tests/display/test_displays.py tests/model/files/test_kw.py tests/common/test_core.py tests/cli tests/genome tests/display/reports
test-oldest:
	$(OLDEST) -m venv build/oldest-venv
	build/oldest-venv/bin/pip install --quiet --upgrade pip tomli
	build/oldest-venv/bin/python packaging/oldest.py > build/oldest.txt
	build/oldest-venv/bin/pip install --quiet --constraint build/oldest.txt '.[test]'
	build/oldest-venv/bin/python -m pytest -n 2 $(OLDEST_TESTS)

# sdist and wheels in dist/, audited, installed without a compiler and tried out on every Python that is here.
dist:
	PYTHON=$(PYTHON) packaging/dist

# The core for 64-bit ARM by Debian's g++-aarch64-linux-gnu, run under qemu-user.
cross:
	packaging/cross

# The same for Windows by Debian's g++-mingw-w64-x86-64-posix, run under wine.
cross-windows:
	TARGET=x86_64-w64-mingw32 CXX=x86_64-w64-mingw32-g++-posix EMULATOR=/usr/lib/wine/wine64 packaging/cross

# Lines that tests reach, in Python (build/coverage/python) and C++ (build/coverage/core): COVERED picks tests.
COVERED ?= tests
coverage: $(BIN)/python
	$(BIN)/python -m venv build/coverage-venv
	build/coverage-venv/bin/pip install --quiet gcovr pytest-cov '.[test]' \
	  -Cbuild-dir=build/coverage/objects -Ccmake.define.KERNELWEAVE_COVERAGE=ON
	build/coverage-venv/bin/python -m pytest -n 2 --cov=kernelweave --cov-report=html:build/coverage/python --cov-report=term $(COVERED) \
	  | tee build/coverage/python.txt
	build/coverage-venv/bin/gcovr --root core --object-directory build/coverage/objects --print-summary \
	  --gcov-ignore-errors=no_working_dir_found --html-details build/coverage/core.html > build/coverage/core.txt

# The documentation site in build/docs, without a network; a warning is an error. docs-quick runs no
# scripts of the papers.
$(VENV)/sphinx: $(VENV)/installed
	$(BIN)/python packaging/extra.py docs | xargs $(BIN)/pip install --quiet
	touch $@

docs: SCRIPTS := /plot_
docs-quick: SCRIPTS := /examples/plot_
docs docs-quick: $(VENV)/sphinx
	rm -rf docs/api/generated docs/gallery
	OPENBLAS_NUM_THREADS=1 KERNELWEAVE_GALLERY=$(SCRIPTS) $(BIN)/python -m sphinx -j auto -W --keep-going -b html docs build/docs
	@echo "open build/docs/index.html"

# All tables but the longest; `python -m benchmarks NAME` gives one of them.
bench: $(VENV)/installed
	$(BIN)/python -m benchmarks

# The chart and the three tables that open docs/benchmarks.md, measured anew.
bench-page: $(VENV)/installed
	$(BIN)/python -m benchmarks.page --run

# The tables and the chart of docs/defaults.md, measured anew.
bench-defaults: $(VENV)/installed
	$(BIN)/python -m benchmarks.defaults_page --run

# The tables of docs/survival.md, measured anew, with scikit-survival in the environment; a run that was stopped continues.
bench-survival: $(VENV)/installed
	$(BIN)/python -m benchmarks.survival_page --run

# This version against another one, row by row: make bench-against REV=HEAD~1 [TABLES="mkl_speed"]. LIMIT=1.1
# names what takes more than 1.1 times as long, and fails. SIZES= takes the sizes of the tables themselves, and hours.
SIZES ?= --reduced
bench-against: $(VENV)/installed
	$(BIN)/python -m benchmarks.against $(REV) $(TABLES) $(SIZES) $(if $(LIMIT),--limit $(LIMIT))

# The papers' experiments at full size, for hours; a run that was stopped goes on: PAPERS="kloft_2011" picks.
papers: $(VENV)/installed
	$(BIN)/python -m benchmarks.papers $(PAPERS)

# All 60,000 digits: three fits of at most an hour each.
bench-mnist: $(VENV)/installed
	$(BIN)/python -m benchmarks mkl_mnist

# Test errors of five ways to combine kernels, C chosen for each: one of the tables of `make bench`.
bench-accuracy: $(VENV)/installed
	$(BIN)/python -m benchmarks solvers_accuracy

# Sequences: rows, stores, training up to a million; the ten million are strings_ten_million.
bench-strings: $(VENV)/installed
	$(BIN)/python -m benchmarks strings_rows strings_crossover strings_stores strings_suffix strings_motif strings_training strings_real strings_splice strings_gapped strings_gapped_proteins \
	  strings_gapped_learned strings_gapped_sizes strings_sizes

lint: $(VENV)/installed $(VENV)/linters
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cp $$($(BIN)/python -c 'import kernelweave; print(kernelweave.__path__[0])')/_core.pyi src/kernelweave
	$(BIN)/mypy
	$(BIN)/python -m tools.docstrings
	$(BIN)/clang-format --dry-run --Werror $(shell find core -name '*.cpp' -o -name '*.h')

format: $(VENV)/linters
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(shell find core -name '*.cpp' -o -name '*.h')

# The core under sanitizers, driven by tests that reach it. Each has a build folder of its own: an
# ordinary build would go on with the sanitised objects.
# $(call sanitised,NAME,SANITIZERS): the package in build/NAME-venv.
define sanitised
	$(BIN)/python -m venv build/$(1)-venv
	build/$(1)-venv/bin/pip install --quiet '.[test]' \
	  -Cbuild-dir=build/$(1) -Ccmake.define.KERNELWEAVE_SANITIZE=$(2)
endef
comma := ,
library = $$(g++ -print-file-name=$(1).so)

# AddressSanitizer and UBSan: all that reads or writes memory.
sanitize: $(BIN)/python
	$(call sanitised,sanitize,address$(comma)undefined)
	LD_PRELOAD="$(call library,libasan) $(call library,libubsan)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	  build/sanitize-venv/bin/python -m pytest -x -q -n 2 \
	  tests/common/test_core.py tests/common/test_border.py tests/engines/test_engines.py tests/engines/test_family.py tests/optimization/methods/test_skm.py \
	  tests/sequences/test_weight_stores.py tests/optimization/inner/test_subproblem.py tests/kernels/string/test_long_sequences.py \
	  tests/kernels/string/test_spectrum.py tests/kernels/string/test_substring.py tests/kernels/string/test_weighted_degree.py tests/kernels/vector/test_vectors.py \
	  tests/kernels/string/test_wd_tries.py tests/kernels/string/test_gapped.py tests/kernels/string/test_column_pairs.py tests/kernels/vector/test_identity.py \
	  tests/engines/test_family_single_precision.py tests/sequences/test_sequences.py tests/engines/test_sharded.py tests/genome/test_scanning.py \
	  tests/inspection tests/test_fuzz_corpus.py tests/engines/test_stacked.py tests/optimization/steps/test_master.py tests/optimization/steps/test_newton.py \
	  tests/estimators/test_one_vs_one.py tests/optimization/inner/test_class_sets.py

# ThreadSanitizer: the team, and many threads that predict, fit and look up. It does not follow a
# fork of several threads ("not supported", it says): tests/common/test_fork.py runs without it. It cannot
# find its shadow memory where addresses are random.
sanitize-threads: $(BIN)/python
	$(call sanitised,sanitize-threads,thread)
	LD_PRELOAD="$(call library,libtsan)" \
	  TSAN_OPTIONS=halt_on_error=1:suppressions=core/system/thread_sanitizer.supp \
	  setarch -R build/sanitize-threads-venv/bin/python -m pytest -x -q -s \
	  tests/common/test_threads.py

# Random, Hypothesis's and (where it can be installed) atheris's inputs for fits, sequence files, model
# files and checkpoints, under limits of memory and time; findings are written to fuzz/findings.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/installed
	$(BIN)/pip install --quiet atheris || echo 'without atheris'
	$(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS)

# Full disks, refused memory, 20 kills and 50 interrupts at random moments; `make test` has fewer.
faults: $(VENV)/installed
	KERNELWEAVE_FAULTS=1 $(BIN)/python -m pytest tests/test_faults.py tests/dask/test_dask_faults.py

# The path of one fit through the code, function by function.
trace: $(VENV)/installed
	$(BIN)/python -m tools.trace

clean:
	rm -rf $(VENV) build dist
