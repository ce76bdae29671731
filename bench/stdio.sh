# stdio.sh: calls one by one over stdio, beside the programs that do only that.

row "stdio call p50 beside the C stub" "$(best low p50_us calls 50000 1 "$HEALTH" $(pith pruner))" "$(best low p50_us calls 50000 1 "$ECHO" "$W/bin/stub")" '<=' 3 us
for f in 10k:2000 1m:100; do n=${f#*:}; f=f${f%:*}.txt
  row "read $f in jeeves beside server-filesystem" \
    "$(best high calls_s calls "$n" 1 "{\"name\":\"read\",\"arguments\":{\"path\":\"$f\"}}" $(pith jeeves))" \
    "$(best high calls_s calls "$n" 1 "{\"name\":\"read_text_file\",\"arguments\":{\"path\":\"$D/$f\"}}" "$N" "$FS" "$D")" '>=' 8 /s
done
row "bash true in focus beside posix_spawn+wait" \
  "$(best low p50_us calls 300 1 '{"name":"bash","arguments":{"cmd":"true"}}' $(pith focus))" \
  "$(best low p50_us "$W/bin/spawnbench" 300 /bin/bash -c true)" '<=' 1.5 us

# A hundred matches: fewer than max_matches, so that both go through the whole tree.
tree=$T/tree; mkdir "$tree"; for d in $(seq 100); do mkdir "$tree/d$d"; for i in $(seq 50); do
  printf 'int value_%d_%d(void)\n{\n    return %d;\n}\n' "$d" "$i" "$i"; done >"$tree/d$d/all.c"
  for i in $(seq 50); do head -c $((i * 60)) "$tree/d$d/all.c" >"$tree/d$d/f$i.c"; done; rm "$tree/d$d/all.c"; echo '/* needle */' >>"$tree/d$d/f50.c"; done
flags="--json --sort path --engine auto --no-config --no-require-git --no-ignore-global --no-ignore-exclude --no-ignore-dot -s"
rg_ms() { hyperfine -N -w 3 -r 20 --export-json "$T/h" "rg $flags -e needle -- $tree" >/dev/null 2>&1; grep -o '"median": [0-9.e-]*' "$T/h" | awk '{print $2*1e6}'; }
row "grep over 5,000 files beside rg itself" \
  "$(best low p50_us calls 30 1 '{"name":"grep","arguments":{"pattern":"needle","paths":["."]}}' $(pith focus "$tree"))" \
  "$(for _ in $(seq "$BEST"); do rg_ms; done | low)" '<=' 1.2 us
