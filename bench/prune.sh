# prune.sh: the pruning engine alone, one core, on 10 MB of code and of logs; then
# a whole call: 1 MB comes as JSON, is pruned, counted, kept and answered.
# Code is what Debian installs anyway (C headers, Python); the log is a made one:
# a build, tests, a package manager and a daemon, with numbers that never repeat.
{ find /usr/include -name '*.h' -size -300k; find /usr/lib/python3 /usr/lib/python3.* -name '*.py' -size -300k; } 2>/dev/null |
  LC_ALL=C sort | tr '\n' '\0' | xargs -0 cat 2>/dev/null | head -c 10500000 >"$T/code"
awk 'BEGIN { srand(7); split("cache queue session token parser index buffer route worker header record schema", w, " ");
  for (i = 0; bytes < 10500000; i++) {
    a = w[1 + int(rand() * 12)]; b = w[1 + int(rand() * 12)]; n = int(rand() * 100000); k = int(rand() * 100);
    if (k < 25) s = sprintf("2024-05-02T09:%02d:%02d.%06dZ INFO  [%s-%d] %s: processed %d items in %d ms", i / 60 % 60, i % 60, n, a, n % 32, b, n, n % 900);
    else if (k < 45) s = sprintf("cc -std=c17 -Wall -Wextra -O2 -Isrc -c -o build/obj/%s/%s%d.o src/%s/%s%d.c", a, b, i, a, b, i);
    else if (k < 60) s = sprintf("tests/test_%s.py::test_%s_%s_%d PASSED                         [ %d%%]", a, a, b, i, k);
    else if (k < 75) s = sprintf("Get:%d http://deb.example.org/debian bookworm/main amd64 lib%s%d amd64 %d.%d-1 [%d kB]", i, a, n % 90, k, n % 10, n % 999);
    else if (k < 90) s = sprintf("May  2 09:%02d:%02d host gateway[%d]: request id=%d path=/%s/%d status=200 took=%dms", i / 60 % 60, i % 60, n % 999, n, a, n, k);
    else if (k < 96) s = sprintf("npm http fetch GET 200 https://registry.example.org/%s-%s %dms (cache miss)", a, b, k);
    else if (k < 98) s = sprintf("src/%s/%s.c:%d:%d: warning: unused variable %c%s%c [-Wunused-variable]", a, b, n % 900, k % 60, 39, b, 39);
    else if (k < 99) s = "";
    else s = sprintf("ERROR: %s of %s failed: connection reset by peer (%d)", a, b, n);
    print s; bytes += length(s) + 1 } }' >"$T/log"
"$(dirname "$PITH")/bench-prune" "$T/log" "$T/code"

serve prune --no-auth --profile pruner && for kind in code log; do
  head -c 1000000 "$T/$kind" | iconv -f utf-8 -t utf-8 -c | "$N" -e '
    const text = require("fs").readFileSync(0, "utf8"), source_type = process.argv[1]
    const options = { max_prune_ratio: 0.9, min_keep_lines: 1, timeout_ms: 5000, annotate_lines: true, include_markers: true }
    const goal_hint = "why did the connection time out while reading the header"
    const params = { name: "prune_text", arguments: { text, goal_hint, source_type, options } }
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }))' "${kind/log/logs}" >"$T/$kind.json"
  limit "a whole call of prune_text with 1 MB, $kind" "$(for _ in $(seq $((5 * BEST))); do
    curl -s -o "$T/answer" -w '%{time_total}\n' -H 'Content-Type: application/json' -H 'Expect:' --data-binary @"$T/$kind.json" "${url%mcp}rpc" |
      awk '{ print $1 * 1000 }'; grep -q 'original_lines' "$T/answer" || echo 9999; done | low)" 120 ms
done; end_server
