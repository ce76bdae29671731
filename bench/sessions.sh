# sessions.sh: memory of idle streams, and whether abandoned sessions give theirs back.

why() { printf '%s' "$1" | grep -o '"error":"[^"]*"' | cut -c10-; }

serve streams
got=$("$N" bench/sessions.mjs streams "$url" "$pid" "$token" 500)
if [ -n "$(why "$got")" ]; then none "500 idle SSE streams, each" "$(why "$got")"
else
  limit "500 idle SSE streams, each" "$(printf '%s' "$got" | get stream_kb)" 4 KB
  printf '| %-48s | %10.4g %-4s |\n' "  with its session" "$(printf '%s' "$got" | get both_kb)" KB
fi
end_server

# 10 s: all of them must be there at once, and a busy machine opens 2,000 a second.
if knows session-idle-s; then
  serve abandoned --session-idle-s 10 --max-sessions 20000
  got=$("$N" bench/sessions.mjs abandon "$url" "$pid" "$token" 10000 10)
  if [ -n "$(why "$got")" ]; then none "10,000 sessions abandoned, RSS beside before" "$(why "$got")"
  else
    row "10,000 sessions abandoned, RSS beside before" "$(printf '%s' "$got" | get after_kb)" "$(printf '%s' "$got" | get before_kb)" '<=' 1.1 KB
    printf '| %-48s | %10.4g %-4s |\n' "  while they were there" "$(printf '%s' "$got" | get peak_kb)" KB
  fi
  end_server
else
  none "10,000 sessions abandoned, RSS beside before" "no --session-idle-s in this build"
fi
