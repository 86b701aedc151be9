#!/bin/sh
# Runs one part of a load test on each of several hosts, all at the same time, and merges the results in a new folder:
#   load-ssh.sh one.example,two.example,three.example plan.json shop.http users.csv
# The arguments are the hosts, the plan, and the files that the plan names; paths are below the current folder.
# GNU parallel copies the files to a temporary folder on each host, and removes it at the end. A host needs errand,
# rsync, perl and a clock that agrees with the others; this machine needs parallel, rsync and errand.
# Users, ports and keys are those of ~/.ssh/config. Another file: export PARALLEL_SSH="ssh -F FILE".
# The load begins after START_IN seconds (default: 15), in which the files must have arrived.
# The exit code is that of "errand bench merge", or 1 if the result of a host is missing.
set -eu
usage="load-ssh.sh HOST,HOST,... PLAN [FILE ...]"
hosts=${1:?$usage}
plan=${2:?$usage}
shift
for file; do
  case /$file/ in
    //* | */../*) echo "load-ssh.sh: '$file' is not below the current folder" >&2; exit 64 ;;
  esac
  shift
  set -- "$@" --transferfile "$file"
done
# Of a host that is named twice parallel makes one.
count=$(echo "$hosts" | tr ',' '\n' | sort -u | grep -c .)
start=$(($(date +%s) + ${START_IN:-15}))
results=load-$(date +%Y%m%d-%H%M%S)
mkdir "$results"
export plan results
# Thresholds that a part does not meet are no failure yet: those of the merged result count.
# shellcheck disable=SC2016 # The shell of the host expands what is in single quotes.
seq "$count" | parallel --jobs 1 --sshlogin "$hosts" --env plan --env results --workdir ... "$@" \
  --return "$results/part-{}.json" --cleanup --line-buffer --tag \
  'mkdir -p "$results" &&
    errand bench "$plan" --share {}/'"$count --start-at $start"' --output "$results/part-{}.json" >/dev/null' || true
code=0
errand bench merge --output "$results/load.json" --html "$results/load.html" "$results"/part-*.json || code=$?
set -- "$results"/part-*.json
[ $# -eq "$count" ] || code=1
exit "$code"
