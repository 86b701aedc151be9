#!/bin/sh
# Runs one part of a load test on each of four nodes, all at the same time, and merges the results in a new folder:
#   sbatch load-slurm.sh plan.json
# Slurm starts one job when all nodes are free, so no part waits in the queue while others run, as tasks of an array may.
# The current folder has the plan and the files that it names, and is on a file system that all nodes have.
# Two parts on each of two nodes: sbatch --nodes=2 --ntasks-per-node=2 load-slurm.sh plan.json
# The exit code is that of "errand bench merge", or 1 if the result of a part is missing.
#SBATCH --job-name=load
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=2
set -eu
plan=${1:?sbatch load-slurm.sh PLAN}
start=$(($(date +%s) + 10))
results=load-$SLURM_JOB_ID
mkdir "$results"
export plan start results
# srun takes the CPUs of a task from its own option since 22.05. A part that ends with a failure, such as a threshold
# that is not met, does not end the others; the thresholds of the merged result count.
# shellcheck disable=SC2016 # The shell of the task expands what is in single quotes.
srun --cpus-per-task="$SLURM_CPUS_PER_TASK" --kill-on-bad-exit=0 --wait=0 --label sh -c '
  part=$((SLURM_PROCID + 1))
  exec errand bench "$plan" --share "$part/$SLURM_NTASKS" --start-at "$start" --output "$results/part-$part.json" \
    >/dev/null' || true
code=0
errand bench merge --output "$results/load.json" --html "$results/load.html" "$results"/part-*.json || code=$?
set -- "$results"/part-*.json
[ $# -eq "$SLURM_NTASKS" ] || code=1
exit "$code"
