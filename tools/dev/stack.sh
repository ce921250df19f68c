#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ./dev stack [--base PORT] [ARGS]: Everywatt on the demo traces (or with `serve ARGS`), Prometheus,
# Alertmanager, VictoriaMetrics and chat robots, all on loopback and with what deploy/ ships, until
# Ctrl-C. Nothing is left behind.
set -euo pipefail
source tools/dev/common.sh

base=
arguments=()
source_chosen=
while (($#)); do
  case $1 in
    --base)
      [[ ${2:-} =~ ^[1-9][0-9]{3,4}$ ]] || die 2 "usage: ./dev stack [--base PORT] [--yes] [ARGS of serve]"
      base=$2
      shift
      ;;
    --yes) assume_yes=yes ;;
    --demo | --demo=* | --replay | --replay=* | --nvml-library | --nvml-library=*)
      source_chosen=yes
      arguments+=("$1")
      ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
[[ -n $source_chosen ]] || arguments+=(--demo all)

# Their usual ports, or five in a row.
everywatt=127.0.0.1:${base:-9400}
prometheus=127.0.0.1:$((base ? base + 1 : 9090))
alertmanager=127.0.0.1:$((base ? base + 2 : 9093))
victoria=127.0.0.1:$((base ? base + 3 : 8428))
robots=127.0.0.1:$((base ? base + 4 : 8060))

if [[ -z ${EVERYWATT_BIN:-} ]]; then
  need_packages build test
  build release product
  EVERYWATT_BIN=build/release/everywatt
fi
for need in need_prometheus need_alertmanager need_victoria_metrics; do
  "$need" || die 3 "$need: apt-get download did not get Debian's package"
done

folder=$(mktemp -d)
run_folder=$(mktemp -d /dev/shm/everywatt-stack-XXXXXX)
chmod 0755 "$folder" "$run_folder"
declare -A names=()

# Everywatt comes last, and goes first: the others are those that it sends to.
# shellcheck disable=SC2317  # the trap calls it
finish() {
  local status=$? pid
  trap '' INT TERM
  trap - EXIT
  for pid in $(printf '%s\n' "${!names[@]}" | sort -rn); do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$folder" "$run_folder" "$run_folder-control"
  exit "$status"
}
trap finish EXIT
trap 'exit 0' INT TERM

# In a session of its own: Ctrl-C at the terminal is for this script, which ends them in order.
start() {  # start NAME COMMAND...
  local name=$1
  shift
  setsid "$@" >"$folder/$name.log" 2>&1 &
  names[$!]=$name
}

random() { head -c 18 /dev/urandom | base64 | tr -d '/+=\n'; }
token=$(random)
secret=SEC$(random)
printf '%s' "$token" >"$folder/token"
printf '%s' "$secret" >"$folder/secret"
printf 'http://%s/robot/send?access_token=stack' "$robots" >"$folder/url"

cat >"$folder/everywatt.toml" <<TEXT
[notify.ops]
type = "dingtalk"
url_file = "$folder/url"
secret_file = "$folder/secret"
receiver_token_file = "$folder/token"
[remote_write.victoria]
url = "http://$victoria/api/v1/write"
TEXT
sed -e "s#localhost:9400#$everywatt#" -e "s#localhost:9093#$alertmanager#" \
  -e "s#- rules/#- $PWD/deploy/prometheus/rules/#" \
  deploy/prometheus/prometheus.yml >"$folder/prometheus.yml"
sed -e "s#localhost:9400#$everywatt#" -e "s#secrets/everywatt.token#$folder/token#" \
  deploy/alertmanager/alertmanager.yml >"$folder/alertmanager.yml"

start robots /usr/bin/python3 tests/notify/robots.py --port "${robots#*:}" --dingtalk-secret "$secret"
start victoria-metrics victoria-metrics -httpListenAddr="$victoria" -storageDataPath="$folder/victoria" \
  -retentionPeriod=1d
start alertmanager tools/dev/alertmanager --config.file="$folder/alertmanager.yml" \
  --storage.path="$folder/alertmanager" --web.listen-address="$alertmanager" --cluster.listen-address=
start prometheus prometheus --config.file="$folder/prometheus.yml" \
  --storage.tsdb.path="$folder/prometheus" --web.listen-address="$prometheus"
start everywatt "$EVERYWATT_BIN" serve --config "$folder/everywatt.toml" --listen "$everywatt" \
  --run-dir "$run_folder" "${arguments[@]}"

answers() { /usr/bin/python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=2)' "$1" 2>/dev/null; }
ready=("everywatt $everywatt/healthz" "prometheus $prometheus/-/ready" "alertmanager $alertmanager/-/ready"
  "victoria-metrics $victoria/health" "robots $robots/")
for line in "${ready[@]}"; do
  for ((tries = 0; tries < 100; ++tries)); do
    ! answers "http://${line#* }" || continue 2
    sleep 0.2
  done
  tail -5 "$folder/${line%% *}.log" >&2
  die 1 "${line%% *} does not answer"
done

cat <<TEXT
Everywatt        http://$everywatt/
Prometheus       http://$prometheus/alerts
Alertmanager     http://$alertmanager/
VictoriaMetrics  http://$victoria/vmui/
chat robot       http://$robots/
Ctrl-C ends everything.
TEXT

# None of them ends by itself.
ended=
wait -n -p ended "${!names[@]}" || true
tail -5 "$folder/${names[$ended]}.log" >&2
ended_name=${names[$ended]}
unset "names[$ended]"
die 1 "$ended_name has ended"
