#!/bin/bash
# slurm-array.sh EPSILON [OPTION...] - a Slurm array that privatizes a text in parts, one part per
# task. Split the text at line ends into ten parts, 000.txt to 009.txt; run one task per part; then
# join the outputs:
#
#   mkdir parts private && split -n l/10 -d -a 3 --additional-suffix=.txt reviews.txt parts/
#   sbatch --array=0-9 slurm-array.sh 3
#   cat private/*.txt > private.txt
#
# EPSILON is the epsilon of tem privatize. The script passes the OPTIONs on to tem privatize, such
# as a certificate, another model, or --format jsonl --field NAME if the parts are JSONL:
#
#   sbatch --array=0-9 slurm-array.sh 1.5 --calibrated
#   sbatch --array=0-9 slurm-array.sh 3 --model /shared/glove.tem --strip-tags
#
# Each node needs tem in its PATH and the model (--model, $TEM_MODEL, or the installed one). You
# must have built any other model yourself, or verified it once with `tem verify`; the same holds
# for its certificates with --calibrated. Nodes that do not share your home directory need
# --model-hash. tem draws for each part once: the output appears when it is complete, and a task
# that Slurm starts again finds the output and fails before it draws. To draw again, remove the
# output; if anybody has seen it, both draws count. The reports, private/*.json, say what was spent.
# They depend on the private text, so show them only to its owner.
#
# Settings for sbatch; options of its command line come before these:
#SBATCH --job-name=tem
# threads per task:
#SBATCH --cpus-per-task=2
# the mapped model, 0.1 GB for the default one, plus the longest lines being processed:
#SBATCH --mem=1G
# time limit of a task; millions of words take seconds (README.md):
#SBATCH --time=01:00:00
set -eu
epsilon=${1:?usage: sbatch --array=0-N slurm-array.sh EPSILON [OPTION...]}
shift
part=$(printf '%03d' "${SLURM_ARRAY_TASK_ID:?sbatch --array sets it}")
umask 077 # only the owner may read the private text and its report
exec tem privatize --quiet --epsilon "$epsilon" --threads "${SLURM_CPUS_PER_TASK:-1}" "$@" \
    --report "private/$part.json" -o "private/$part.txt" "parts/$part.txt"
