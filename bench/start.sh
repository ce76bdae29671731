# start.sh: how soon it is there, and what it takes while idle.

cold() { for _ in $(seq 20); do calls 1 1 "$@" | get cold_ms; done | low; }
stub=$(cold "$ECHO" "$W/bin/stub"); ours=$(cold "$HEALTH" $(pith pruner))
limit "cold start to initialize, stub's is $stub ms" "$ours" "$(awk -v s="$stub" 'BEGIN{print s+2.5}')" ms

mkfifo "$T/in"; $(pith focus) <"$T/in" >"$T/out" & p=$!; exec 7>"$T/in"
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}' >&7
for _ in $(seq 100); do [ -s "$T/out" ] && break; sleep 0.05; done
limit "idle RSS, stdio" "$(mb "$(rss $p)")" 5 MB; exec 7>&-; wait $p

serve idle --profile pruner
limit "idle RSS, HTTP server" "$(mb "$(rss $pid)")" 7 MB
end_server
