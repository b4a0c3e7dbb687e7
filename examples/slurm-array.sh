#!/bin/bash
# slurm-array.sh EPSILON [OPTION...] - a Slurm array that privatises the parts of a text, a part a
# task. Cut the text at line ends into ten parts, 000.txt to 009.txt; run a task for each; put
# together what comes out:
#
#   mkdir parts private && split -n l/10 -d -a 3 --additional-suffix=.txt reviews.txt parts/
#   sbatch --array=0-9 slurm-array.sh 3
#   cat private/*.txt > private.txt
#
# EPSILON is that of tem privatize, and OPTIONs are handed on to it, such as a certificate, another
# model, or --format jsonl --field NAME where the parts are JSONL:
#
#   sbatch --array=0-9 slurm-array.sh 1.5 --calibrated
#   sbatch --array=0-9 slurm-array.sh 3 --model /shared/glove.tem --strip-tags
#
# Each node needs tem in its PATH and the model (--model, $TEM_MODEL, or the one that was
# installed). Another model than that one you must have built, or verified once with `tem verify`, and so
# its certificates for --calibrated; nodes that do not share your home directory need --model-hash.
# A part is drawn for once: the output appears when it is complete, and a task that Slurm starts
# again finds it there and fails before it draws. To draw again, remove the output: if anybody has
# seen it, both draws count. The reports, private/*.json, say what was spent; they depend on the
# private text, and are for its owner only.
#
# What sbatch reads; options of its command line come before these:
#SBATCH --job-name=tem
# threads of a task:
#SBATCH --cpus-per-task=2
# the mapped model, 0.2 GB for the default one, and the longest lines in work:
#SBATCH --mem=1G
# the most a task may take; millions of words take seconds (README.md):
#SBATCH --time=01:00:00
set -eu
epsilon=${1:?usage: sbatch --array=0-N slurm-array.sh EPSILON [OPTION...]}
shift
part=$(printf '%03d' "${SLURM_ARRAY_TASK_ID:?sbatch --array sets it}")
umask 077 # the private text is nobody else's, and its report neither
exec tem privatize --quiet --epsilon "$epsilon" --threads "${SLURM_CPUS_PER_TASK:-1}" "$@" \
    --report "private/$part.json" -o "private/$part.txt" "parts/$part.txt"
