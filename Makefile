# make run · make test · make test T=word · make asan · make fuzz · make bench
# make test-clients · make rooms · make lint · make install PREFIX= · make compile_commands.json
# B=DIR builds elsewhere; SAN=1 builds with AddressSanitizer and UBSan.

B       ?= build
PREFIX  ?= /usr/local
VERSION := 0.1.0

CFLAGS  ?= -O2 -g
WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla
DEFS    := -D_GNU_SOURCE -DPITH_VERSION='"$(VERSION)"' -DPCRE2_CODE_UNIT_WIDTH=8
HARDEN  := -fstack-protector-strong -fno-strict-aliasing
LDLIBS  := -luv -lpcre2-8 -ldl -lpthread -lm
ifdef SAN
CFLAGS  += -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
LDFLAGS += -fsanitize=address,undefined
else
HARDEN  += -D_FORTIFY_SOURCE=2
LDFLAGS += -Wl,-z,relro,-z,now
endif

# llhttp: a library of its own from Debian 13 on; before that, the C sources
# that Debian's node-llhttp installs, compiled here.
ifneq ($(wildcard /usr/include/llhttp.h),)
LDLIBS     += -lllhttp
else
LLHTTP_DIR := /usr/share/llhttp
DEFS       += -isystem /usr/share/include/llhttp
LLHTTP_OBJ := $(addprefix $(B)/llhttp/,api.o http.o llhttp.o)
endif

SRC     := $(sort $(wildcard src/*/*.c))
LIB     := $(B)/libpith.a
UNIT    := $(patsubst tests/unit/%.c,$(B)/unit/%,$(sort $(wildcard tests/unit/*_test.c)))
CONF    := $(patsubst tests/conformance/%.c,$(B)/conformance/%.o,$(sort $(wildcard tests/conformance/*.c)))
FUZZ    := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(sort $(wildcard tests/fuzz/*_fuzz.c)))
OURS     = $(sort $(shell git ls-files 'src/*.[ch]' 'tests/*.[ch]'))
COMPILE  = $(CC) -std=c17 $(WARN) $(DEFS) $(HARDEN) $(CFLAGS) -Isrc -I. -MMD -MP
MAKE_IN  = @+$(MAKE) --no-print-directory

.PHONY: all
all: deps
	$(MAKE_IN) $(B)/pith

$(B)/pith: $(B)/obj/main.o $(LIB)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(LIB): $(SRC:src/%.c=$(B)/obj/%.o) $(B)/obj/tokens/data.o $(LLHTTP_OBJ)
	@rm -f $@
	ar rcs $@ $^
$(B)/obj/%.o: src/%.c Makefile
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<
$(B)/obj/tokens/data.o: src/tokens/data.S data/o200k.bin data/unicode.bin
	@mkdir -p $(@D)
	$(CC) -c -o $@ $<
$(B)/llhttp/%.o: $(LLHTTP_DIR)/%.c
	@mkdir -p $(@D)
	$(CC) -w $(DEFS) $(CFLAGS) -c -o $@ $<

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# --- what Debian has to give ---

DEBIAN    := $(shell . /etc/os-release 2>/dev/null && echo $$VERSION_ID)
BUILD_PKG := libuv1-dev libpcre2-dev libcurl4-openssl-dev libssl-dev \
             libsqlite3-dev libzstd-dev \
             $(if $(filter 12,$(DEBIAN)),node-llhttp,libllhttp-dev)
TEST_PKG  := ripgrep curl jq strace openssl libjson-c-dev git clang-format cppcheck \
             $(if $(shell command -v node),,nodejs) $(if $(shell command -v npm),,npm)
FUZZ_PKG  := clang libclang-rt-dev
TRAIN_PKG := python3 python3-numpy python3-sklearn
BENCH_PKG := nginx-light wrk hyperfine ripgrep

# $(call need,PACKAGES): silent when all are there; as root or by sudo otherwise.
define need
	@missing=; for p in $(1); do \
	  [ "$$(dpkg-query -W -f='$${db:Status-Status}' $$p 2>/dev/null)" = installed ] || missing="$$missing $$p"; \
	done; [ -z "$$missing" ] && exit 0; \
	sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	if ! command -v apt-get >/dev/null || { [ -n "$$sudo" ] && ! command -v sudo >/dev/null; }; then \
	  echo "pith needs these packages, and this user cannot install them:$$missing" >&2; exit 1; fi; \
	echo "installing:$$missing"; log=$$(mktemp); \
	{ $$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
	  $$sudo apt-get install -y -qq --no-install-recommends $$missing; } >$$log 2>&1 || \
	  { tail -n 5 $$log >&2; rm -f $$log; echo "these packages could not be installed:$$missing" >&2; exit 1; }; \
	rm -f $$log
endef

.PHONY: deps test-deps
deps:
	$(call need,$(BUILD_PKG))
test-deps: deps
	$(call need,$(TEST_PKG))

# --- use ---

.PHONY: run install
run: all
	@exec $(B)/pith serve --log-format text
install: all
	install -D -m 755 $(B)/pith $(DESTDIR)$(PREFIX)/bin/pith
	ln -sf pith $(DESTDIR)$(PREFIX)/bin/jeeves-mcp-pruner

# --- tests ---

$(B)/unit/%: tests/unit/%.c tests/unit/test.h $(LIB)
	@mkdir -p $(@D)
	$(COMPILE) -Itests/unit $(LDFLAGS) -o $@ $< $(LIB) $(LDLIBS) $(if $(shell grep -l json-c/ $<),-ljson-c) \
	  $(if $(shell grep -l openssl/ $<),-lssl -lcrypto) $(if $(shell grep -l sqlite3.h $<),-lsqlite3)
$(B)/pith-conformance: $(CONF) $(LIB)
	$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)
$(B)/conformance/%.o: tests/conformance/%.c Makefile
	@mkdir -p $(@D)
	$(COMPILE) -c -o $@ $<
$(B)/fuzz/%: tests/fuzz/%.c tests/fuzz/driver.c $(LIB)
	@mkdir -p $(@D)
	$(COMPILE) $(LDFLAGS) -o $@ $< tests/fuzz/driver.c $(LIB) $(LDLIBS)

.PHONY: unit test asan fuzz rooms lint
unit: $(UNIT)
test: test-deps
	$(MAKE_IN) $(B)/pith $(B)/pith-conformance $(if $(wildcard tests/unit/*_test.c),unit) $(FUZZ)
	@B=$(B) PITH=$(B)/pith SAN=$(SAN) T="$(T)" tests/run
asan:
	$(MAKE_IN) test B=$(B)/asan SAN=1
rooms:
	@tests/rooms

# Eight real agent clients over stdio and HTTP; minutes; table in $(B)/clients.md.
.PHONY: test-clients
test-clients: test-deps
	$(MAKE_IN) $(B)/pith
	@B=$(B) PITH=$(B)/pith SAN=$(SAN) node tests/clients.mjs

# Each target by libFuzzer, SECONDS long; findings stay in $(B)/fuzz-found.
SECONDS ?= 60
fuzz: deps
	$(call need,$(FUZZ_PKG))
	$(MAKE_IN) fuzz-run CC=clang B=$(B)/clang \
	  CFLAGS="-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-omit-frame-pointer" \
	  HARDEN= LDFLAGS="-fsanitize=fuzzer,address,undefined"
.PHONY: fuzz-run
fuzz-run: $(LIB)
	@mkdir -p $(B)/fuzz $(B)/fuzz-found
	@for f in $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*_fuzz.c)); do \
	  $(CC) -std=c17 $(DEFS) $(CFLAGS) -Isrc -I. $(LDFLAGS) -o $(B)/fuzz/$$f tests/fuzz/$$f.c $(LIB) $(LDLIBS) || exit 1; \
	  mkdir -p $(B)/corpus/$$f; seeds=tests/fuzz/corpus/$$f; [ -d $$seeds ] || seeds=; \
	  echo "== $$f"; $(B)/fuzz/$$f -max_total_time=$(SECONDS) -print_final_stats=1 -verbosity=0 \
	    -artifact_prefix=$(B)/fuzz-found/ $(B)/corpus/$$f $$seeds || exit 1; done

lint: test-deps
	clang-format --dry-run -Werror $(OURS)
	cppcheck --quiet --std=c11 --enable=warning,performance,portability --error-exitcode=1 \
	  --inline-suppr -D__linux__ -Isrc -I. src
	@for f in $(SRC) src/main.c; do \
	  $(CC) -std=c17 $(WARN) $(DEFS) -O1 -fanalyzer -Werror -Isrc -I. -c -o /dev/null $$f || exit 1; done

compile_commands.json: export QUOTED = $(DEFS)
compile_commands.json: $(SRC) src/main.c Makefile
	@{ echo '['; sep=; for f in $(SRC) src/main.c; do \
	  printf '%s\n{"directory":"%s","file":"%s","command":"cc -std=c17 %s -Isrc -I. -c %s"}' "$$sep" "$(CURDIR)" $$f \
	    "$$(printf '%s' "$$QUOTED" | sed 's/["\\]/\\&/g')" $$f; sep=','; done; echo ']'; } >$@

# The pruner's weights anew, from ../shared/eval; minutes. Only for who changes
# what a feature means: the weights are in data/.
$(B)/features: data/train/features.c $(LIB)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)
.PHONY: train
train: deps
	$(call need,$(TRAIN_PKG))
	$(MAKE_IN) $(B)/features
	B=$(B) /usr/bin/python3 data/train/train.py

.PHONY: bench clean
$(B)/bench-prune: bench/prune.c $(LIB)
	$(COMPILE) $(LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)
bench: all
	$(MAKE_IN) $(B)/bench-prune
	$(call need,$(BENCH_PKG))
	@PITH=$(B)/pith bench/run
clean:
	rm -rf $(B) tests/node_modules
