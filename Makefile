# The commands of the book. `make` alone lists them; README.md has the same for those without make.
.PHONY: help book test long figures browser pdf epub pictures slides serve claims outputs chapter assignment grade quizzes clean

VENV := .venv
RUN := $(VENV)/bin/python
# What is never imported need not be compiled, which takes half of the installation's time; what is, is compiled and kept then.
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check --no-compile
unexport PYTHONDONTWRITEBYTECODE
READY := $(VENV)/.complete
# A site with solutions and one without are built over each other, so that only one is up to date.
export SOLUTIONS ?= yes
SITE := _build/.site-solutions-$(SOLUTIONS)

# The chapters' tensors are small: a second thread mostly waits, and one gives the same sums everywhere.
export OMP_NUM_THREADS ?= 1
# What a step of training frees the next one asks for again. glibc would hand it back and forth, which takes up to a third
# of the time; so the process keeps it.
export MALLOC_MMAP_THRESHOLD_ ?= 33554432
export MALLOC_TRIM_THRESHOLD_ ?= 1073741824

# The pins of requirements.txt install on these; name another interpreter with `make PYTHON=...`.
SUPPORTED := 3.11 3.12 3.13
PYTHON ?= $(shell for python in python3 $(SUPPORTED:%=python%) python; do \
	version=$$($$python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null); \
	case " $(SUPPORTED) " in (*" $$version "*) echo $$python; break;; esac; done)

# Everything that a page depends on. Where nothing but a figure's script or a style sheet has changed,
# no page is made again.
ASSETS := $(wildcard book/*/figures/*.js book/page/kit/* book/_assets/*)
SOURCES := _config.yml _toc.yml $(shell find book companion \( -name '.*' -o -name __pycache__ \) -prune -o -type f -print)

# A link leads to what another clone has made: that stays, and a folder of our own takes the link's place.
OWN = @if [ -L $(1) ]; then rm $(1); fi

help: ## list the commands
	@sed -n 's/^\([a-z ]*\):.*## /make \1 — /p' Makefile

# torch comes by its name: which of its builds an index offers depends on the machine, and so does what
# that build asks for beside the pins. The pins are complete, so that parts of them need not know of each
# other and are installed side by side. A folder has no hash, so the package comes last.
$(READY): requirements.txt pyproject.toml
	@version=$$($(or $(PYTHON),python3) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>&1); \
	case " $(SUPPORTED) " in *" $$version "*) ;; *) \
	echo "The book's pinned packages install on CPython $(SUPPORTED); $(or $(PYTHON),python3) gives: $$version."; \
	echo "Install one of these, or name it: make PYTHON=/path/to/python3.12"; exit 1;; esac
	$(call OWN,$(VENV))
	$(PYTHON) -m venv --clear $(VENV)
	awk '/^[^ #]/ { torch = /^torch==/; pin += !torch } !torch { print > ("$(VENV)/pins." pin % 2) }' requirements.txt
	torch=$$(grep -o '^torch==[^ ]*' requirements.txt); \
	$(PIP) --no-deps $$torch & one=$$!; $(PIP) --no-deps -r $(VENV)/pins.0 & two=$$!; \
	$(PIP) --no-deps -r $(VENV)/pins.1; three=$$?; wait $$one && wait $$two && [ $$three = 0 ] && $(PIP) $$torch
	$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

define PAGES
$(call OWN,_build)
$(RUN) -m book._press.validate
rm -rf _build/html _build/.site*
$(VENV)/bin/jupyter-book build . --all -W -n --keep-going
endef
$(SITE): $(READY) $(SOURCES)
	$(if $(filter-out $(ASSETS),$?),$(PAGES),$(RUN) -m book._press.assets)
	@touch $@

book: $(SITE) ## run the notebooks that changed under nbval and render the book: make book [SOLUTIONS=no]
	@cat _build/chapters.txt
	@$(RUN) -c 'import pathlib; print(pathlib.Path("_build/html/index.html").resolve().as_uri())'

# Each process has one file at a time; the longest are not the last (testpaths in pyproject.toml). Three for two cores:
# some tests wait for what takes too long.
FILES := --dist loadfile --no-loadscope-reorder

test: $(READY) ## run the unit tests, which need no browser
	$(RUN) -m pytest -n 3 $(FILES) -m "not browser and not long"

long: $(READY) ## run those that take longer: hand-ins in the sandbox, several processes, compilers, stored runs again
	$(RUN) -m pytest -n 2 $(FILES) -m long

figures: $(READY) ## test the live figures in Chromium; no built site is needed
	$(RUN) -m pytest -n 2 $(FILES) tests/book -m "browser and not site"

browser: figures $(SITE) ## test the live figures and the built site in Chromium, with the network refused
	$(RUN) -m pytest -n 2 tests/book -m "browser and site"

pdf epub: $(SITE) ## the built site as one file, for paper or for an e-reader
	$(RUN) -m book._press.printed $@

pictures: $(SITE) ## every plot and scene of the built site as an SVG, in one archive
	$(RUN) -m book._press.pictures

slides: $(SITE) ## a deck for every chapter, in the built site: make slides [CHAPTER=...]
	$(RUN) -m book._press.slides $(CHAPTER)

serve: $(SITE) ## open the built site over http
	@$(RUN) -m webbrowser -t http://127.0.0.1:8000/ & $(RUN) -m http.server --bind 127.0.0.1 --directory _build/html 8000

SEEDS := 301 302 303 304 305
claims: $(READY) ## repeat every claim under other seeds: make claims SEEDS="101 102" [CHAPTER=...]
	$(RUN) -m book._press.claims $(SEEDS) $(if $(CHAPTER),--chapter $(CHAPTER))

outputs: $(READY) ## run a notebook and write the outputs that it keeps: make outputs CHAPTER=self_attention
	@$(RUN) -m book._press.outputs $(or $(CHAPTER),$(error say of which notebook: make $@ CHAPTER=self_attention))

chapter: $(READY) ## begin a new chapter, which runs; tests say what is left: make chapter NAME=my_topic [PART="The idea"]
	@$(RUN) -m book._press.chapter $(or $(NAME),$(error say how it is called: make $@ NAME=my_topic)) \
	$(if $(PART),--part "$(PART)")

NAMED = $(or $(CHAPTER),$(error say which chapter's exercises: make $@ CHAPTER=self_attention))
assignment: $(READY) ## build the exercises to hand out: make assignment CHAPTER=self_attention
	@$(RUN) -m book._grading assignment $(NAMED)

grade: $(READY) ## grade <student>.ipynb or <student>/<chapter>.ipynb: make grade CHAPTER=... SUBMISSIONS=folder [DUE=2026-10-01]
	@$(RUN) -m book._grading grade $(NAMED) $(or $(SUBMISSIONS),$(error say where they are: SUBMISSIONS=folder)) \
	$(if $(DUE),--due "$(DUE)")

quizzes: $(READY) ## write every chapter's quiz for Moodle, as QTI 2.1 and as Anki cards into quizzes/
	@$(RUN) -m book._grading quizzes

clean: ## remove everything that the other commands made
	rm -rf _build $(VENV) dist build *.egg-info .pytest_cache .hypothesis .ruff_cache
	find . -name .git -prune -o \( -name __pycache__ -o -name .ipynb_checkpoints \) -print0 | xargs -0 rm -rf
