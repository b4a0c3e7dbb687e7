#!/bin/bash
# A Slurm array that privatises the parts of a text, a part a task:
#
#   mkdir parts private && split -n l/10 -d -a 3 --additional-suffix=.txt reviews.txt parts/
#   sbatch --array=0-9 slurm-array.sh 3
#   cat private/*.txt > private.txt
#
# Each node needs tem in its PATH and the model ($TEM_MODEL, or the one that was installed).
# A part is drawn for once: the output appears when it is complete, and a task that Slurm starts
# again finds it there and fails before it draws. The reports say what was spent; they depend on
# the private text, and are for its owner only.
#SBATCH --job-name=tem
#SBATCH --cpus-per-task=2
#SBATCH --mem=1G
#SBATCH --time=01:00:00
set -eu
epsilon=${1:?usage: sbatch --array=0-N slurm-array.sh EPSILON}
part=$(printf '%03d' "${SLURM_ARRAY_TASK_ID:?sbatch --array sets it}")
umask 077
exec tem privatize --quiet --epsilon "$epsilon" --threads "${SLURM_CPUS_PER_TASK:-1}" \
    --report "private/$part.json" -o "private/$part.txt" "parts/$part.txt"
