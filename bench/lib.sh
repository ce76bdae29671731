# lib.sh: what every part of the benchmark uses: servers, numbers, rows.
#
# Sourced by bench/run, which has set S (../shared/bench), W (its cache), PITH,
# N (node 24), D (test files), T (a temp folder that goes at the end) and BEST.

get() { grep -o "\"$1\":[0-9.]*" | head -n 1 | cut -d: -f2; }
low() { sort -g | head -n 1; }
high() { sort -g | tail -n 1; }

# row NAME OURS PEER RELATION BOUND [UNIT]: a line of the table; ok when OURS/PEER keeps the bound.
row() { awk -v n="$1" -v a="$2" -v b="$3" -v op="$4" -v lim="$5" -v u="${6:-}" 'BEGIN {
  r = b > 0 ? a / b : 0; ok = b > 0 && a > 0 && (op == "<=" ? r <= lim : r >= lim);
  printf "| %-48s | %10.4g %-4s | %10.4g %-4s | %7.2f | %s %-5s | %s |\n", n, a, u, b, u, r, op, lim, ok ? "ok" : "NOT" }'; }

# limit NAME OURS BOUND UNIT: a number of ours alone. none NAME WHY: it could not be measured.
limit() { awk -v n="$1" -v a="$2" -v lim="$3" -v u="$4" 'BEGIN {
  printf "| %-48s | %10.4g %-4s | %15s | %7s | <= %-5s | %s |\n", n, a, u, "", "", lim, a != "" && a <= lim ? "ok" : "NOT" }'; }
none() { printf '| %-48s | %15s | %-44s | NOT |\n' "$1" "" "$2"; }

# serve NAME FLAGS...: a server of ours in the background; sets port, pid, url and, unless
# --no-auth is among the flags, token. Its log is $T/NAME.log. end_server ends it.
serve() {
  local name=$1; shift
  : >"$T/$name.log"
  PITH_HOME=$T/settings "$PITH" serve --port 0 --root "$D" --store "$T/store-$name" --log-format json "$@" \
    >"$T/$name.log" 2>&1 &
  pid=$!; port=
  for _ in $(seq 100); do port=$(get port <"$T/$name.log"); [ -n "$port" ] && break; sleep 0.05; done
  url=http://127.0.0.1:$port/mcp
  token=$(PITH_HOME=$T/settings "$PITH" token 2>/dev/null)
  [ -n "$port" ]
}
end_server() { kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; }

# Does this build know the flag? Parts of it may be older than the bench.
knows() { "$PITH" serve --help | grep -q -- "--$1 "; }

rss() { awk '/^Rss:/{print $2}' "/proc/$1/smaps_rollup"; } # KB, counted and not estimated
mb() { awk -v k="$1" 'BEGIN { print k / 1024 }'; }
pith() { echo "$PITH" stdio --profile "$1" --root "${2:-$D}" --store "$T/store"; }
# calls N K PARAMS CMD...: one pass of the C client over stdio, as JSON.
calls() { "$W/bin/stdiobench" "$1" "$2" tools/call "$3" "${@:4}"; }
# best low|high FIELD CMD...: the best of BEST passes.
best() { local how=$1 field=$2; shift 2; for _ in $(seq "$BEST"); do "$@" | get "$field"; done | "$how"; }

HEALTH='{"name":"health","arguments":{}}'
ECHO='{"name":"echo","arguments":{"message":"hello"}}'
META='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}'
