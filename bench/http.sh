# http.sh: requests a second beside nginx, with the lock on, in each era, and in TLS.
#
# 16 connections by wrk, which has one core and the server the other. wrk's
# script makes its requests once, before it starts: 1,024 of them with ids of
# their own, for a client may not have one id under way twice. nginx's `return`
# is asked by the same script, so that both pay the same for it.

rps() { wrk -t1 -c16 -d4s "$@" 2>/dev/null | awk '/Requests\/sec/{print $2} /Non-2xx|Socket errors/{print "0"}' | low; }

# wrk_script FILE HEADERS BODY [SESSION...]: BODY has @ID@; requests take turns with the sessions.
wrk_script() {
  local file=$1 headers=$2 body=$3; shift 3
  { printf 'local headers = { ["Content-Type"] = "application/json", ["Accept"] = "application/json, text/event-stream", %s }\n' "$headers"
    printf 'local body = [[%s]]\nlocal sessions = { ' "$body"; [ $# -gt 0 ] && printf '"%s", ' "$@"; printf '}\n'
    cat <<'L'
local all, at = {}, 0
function init()
  for i = 1, 1024 do
    local h = {}
    for k, v in pairs(headers) do h[k] = v end
    if #sessions > 0 then h["Mcp-Session-Id"] = sessions[i % #sessions + 1] end
    all[i] = wrk.format("POST", nil, h, (body:gsub("@ID@", tostring(i))))
  end
end
function request()
  at = at % 1024 + 1
  return all[at]
end
L
  } >"$file"
}

# pass FILE PID URL SCRIPT: one pass; adds "RATE CPU", requests a second and the server's own
# microseconds for one, to FILE.
ticks() { awk '{print $14 + $15}' "/proc/$1/stat"; }
pass() {
  local before; before=$(ticks "$2")
  wrk -t1 -c16 -d4s -s "$4" "$3" 2>/dev/null |
    awk -v b="$before" -v pid="$2" -v hz="$(getconf CLK_TCK)" '/requests in/{n=$1} /Requests\/sec/{r=$2} /Non-2xx|Socket errors/{bad=1}
      END { getline < ("/proc/" pid "/stat"); print bad ? 0 : r, n ? ($14 + $15 - b) / hz * 1e6 / n : 0 }' >>"$1"
}
column() { cut -d' ' -f"$2" "$1"; }

# beside NAME PID URL PEER_PID PEER_URL SCRIPT BOUND: two rates, passes alternating. The bound is on
# the rates; on a busy machine these say little, so the servers' CPU time stands below.
beside() {
  rm -f "$T/ours" "$T/peer"
  for _ in $(seq "$BEST"); do pass "$T/peer" "$4" "$5" "$6"; pass "$T/ours" "$2" "$3" "$6"; done
  ours=$(column "$T/ours" 1 | high)
  row "$1" "$ours" "$(column "$T/peer" 1 | high)" '>=' "$7" r/s
  awk -v a="$(column "$T/ours" 2 | low)" -v b="$(column "$T/peer" 2 | low)" 'BEGIN {
    printf "| %-48s | %10.4g %-4s | %10.4g %-4s | %7.2f |\n", "  CPU time of one request", a, "us", b, "us", (a > 0 ? b / a : 0) }'
}

# --- nginx and a server in Node ---

mkdir -p "$T/ngx"; ng=$((20000 + RANDOM % 20000))
cat >"$T/ngx/c" <<C
worker_processes 1; $([ "$(id -u)" = 0 ] && echo 'user root root;') pid $T/ngx/pid; error_log $T/ngx/err; daemon off;
events { worker_connections 256; }
http { access_log off; keepalive_requests 100000000; client_body_temp_path $T/ngx/b; proxy_temp_path $T/ngx/p; fastcgi_temp_path $T/ngx/f; uwsgi_temp_path $T/ngx/u; scgi_temp_path $T/ngx/s;
server { listen 127.0.0.1:$ng; location = /ret { default_type application/json; return 200 '{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"$(head -c 130 /dev/zero | tr '\0' x)"}]}}'; } } }
C
PATH=$PATH:/usr/sbin nginx -e "$T/ngx/err" -c "$T/ngx/c" & ngpid=$!; sleep 0.5
ngworker=$(pgrep -P $ngpid)
nginx_url=http://127.0.0.1:$ng/ret
evp=$((20000 + RANDOM % 20000)); PORT=$evp "$N" "$EV" streamableHttp >/dev/null 2>&1 & evpid=$!

# open_session URL [CURL FLAGS...]: its id, after initialize and notifications/initialized.
INIT='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}'
open_session() {
  local where=$1 id; shift
  set -- --max-time 5 -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' "$@"
  id=$(curl -si "$where" "$@" -d "$INIT" | tr -d '\r' | awk 'tolower($1)=="mcp-session-id:"{print $2}')
  [ -n "$id" ] || return 1
  curl -s -o "$T/null" "$where" "$@" -H "Mcp-Session-Id: $id" -H 'MCP-Protocol-Version: 2025-11-25' -d '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  echo "$id"
}

BODY='{"jsonrpc":"2.0","id":@ID@,"method":"tools/call","params":%s}'
wrk_script "$T/plain.lua" '' "$(printf "$BODY" "$HEALTH")"
for _ in $(seq 100); do evid=$(open_session "http://127.0.0.1:$evp/mcp") && break; sleep 0.1; done
wrk_script "$T/echo.lua" '' "$(printf "$BODY" "$ECHO")" "$evid"

# --- without a token, as the first house was measured ---

serve open --no-auth --profile pruner
beside "HTTP health, 16 connections, beside nginx return" $pid "$url" $ngworker "$nginx_url" "$T/plain.lua" 0.6
row "HTTP health beside server-everything's echo" "$ours" "$(rps -s "$T/echo.lua" "http://127.0.0.1:$evp/mcp")" '>=' 20 r/s
end_server; kill $evpid 2>/dev/null; wait $evpid 2>/dev/null

# --- with the token, in both eras ---

serve locked
LOCK="[\"Authorization\"] = \"Bearer $token\""
ERA='["MCP-Protocol-Version"] = "2026-07-28"'
wrk_script "$T/stateless.lua" "$LOCK, $ERA, [\"Mcp-Method\"] = \"tools/call\", [\"Mcp-Name\"] = \"health\"" \
  "$(printf "$BODY" "{\"name\":\"health\",\"arguments\":{},$META}")"
beside "HTTP with token, stateless, beside nginx return" $pid "$url/pruner" $ngworker "$nginx_url" "$T/stateless.lua" 0.5

ids=(); for _ in $(seq 16); do id=$(open_session "$url/pruner" -H "Authorization: Bearer $token") && ids+=("$id"); done
if [ ${#ids[@]} = 16 ]; then
  wrk_script "$T/sessions.lua" "$LOCK, [\"MCP-Protocol-Version\"] = \"2025-11-25\"" "$(printf "$BODY" "$HEALTH")" "${ids[@]}"
  beside "HTTP with token, in 16 sessions, beside nginx" $pid "$url/pruner" $ngworker "$nginx_url" "$T/sessions.lua" 0.4
else
  none "HTTP with token, in 16 sessions, beside nginx" "initialize gave no Mcp-Session-Id"
fi
kill $ngpid 2>/dev/null; wait $ngpid 2>/dev/null

# --- server/discover, one at a time ---

wrk_script "$T/discover.lua" "$LOCK, $ERA, [\"Mcp-Method\"] = \"server/discover\"" \
  "{\"jsonrpc\":\"2.0\",\"id\":@ID@,\"method\":\"server/discover\",\"params\":{$META}}"
p50() { wrk -t1 -c1 -d2s --latency -s "$T/discover.lua" "$url" 2>/dev/null |
  awk '/Non-2xx|Socket errors/{bad=1} $1=="50%"{v=$2+0; if($2~/us$/)v/=1000; else if($2!~/ms$/)v*=1000; print bad?"":v}'; }
limit "server/discover over HTTP with token, p50" "$(for _ in $(seq "$BEST"); do p50; done | low)" 1 ms
discover() { "$W/bin/stdiobench" 20000 1 server/discover "{$META}" $(pith focus) | get p50_us; }
limit "server/discover over stdio, p50" "$(for _ in $(seq "$BEST"); do discover; done | low | awk '{print $1/1000}')" 1 ms

# --- TLS beside plain, the same requests ---

tls_row() {
  local lockedpid=$pid lockedurl=$url
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout "$T/key.pem" -out "$T/cert.pem" 2>/dev/null
  if ! serve tls --tls-cert "$T/cert.pem" --tls-key "$T/key.pem"; then
    none "$1" "the server did not start: $(head -c 60 "$T/tls.log")"
  else
    beside "$1" $pid "https://127.0.0.1:$port/mcp/pruner" $lockedpid "$lockedurl/pruner" "$T/stateless.lua" 0.6
  fi
  end_server; pid=$lockedpid
}
if knows tls-cert; then tls_row "HTTPS beside HTTP, stateless, with token"
else none "HTTPS beside HTTP, stateless, with token" "no --tls-cert in this build"; fi
end_server
