# fish completion for tem. Commands and options come from tem's own help, so they always match the
# installed program.

# The commands, each with a tab and what it does.
function __tem_commands
    tem --help 2>/dev/null | string replace -rf '^  ([a-z]+)  +(.*)$' '$1\t$2'
end

# The options of the command on the line: -o and --output, each with the first line of its help.
function __tem_options
    set -l words (commandline -opc)
    set -q words[2]; or return
    set -l help (tem $words[2] --help 2>/dev/null)
    string replace -rf '^  (?:-., |    )(--[a-z-]+)(?: [A-Z=]+)? +(.*)$' '$1\t$2' -- $help
    string replace -rf '^  (-.), --[a-z-]+(?: [A-Z=]+)? +(.*)$' '$1\t$2' -- $help
end

function __tem_mechanisms
    tem mechanisms 2>/dev/null | string replace -rf '^([a-z0-9-]+): .*' '$1'
end

# Whether the word before the cursor is one of these options.
function __tem_after
    contains -- (commandline -opc)[-1] $argv
end

# Options whose value is a number, a name or a hash: no file can help.
function __tem_after_other
    __tem_after --epsilon --beta --gamma --model-hash --self --support --bayes --quantile \
        --field --drop-field --drop-field-if-present --delimiter --by --budget --budget-worst --limit --neighbours --dimensions --remove --threads \
        --top --epsilons --trials --only --epochs --steps --minutes --text --label --rating \
        --stretch --squash --exposed --rest --unknown --within --order --beam --sample \
        --candidates --ratio --number --after --pairs --insecure-seed --seed --rate --negatives \
        --burn-in --prune --temper --lift --name --origin --license
end

function __tem_is_first
    test (count (commandline -opc)) -eq 1
end

complete -c tem -n __tem_is_first -f -a '(__tem_commands)'
complete -c tem -n __tem_is_first -f -a '--help --version help'
complete -c tem -n '__tem_after help' -f -a '(__tem_commands)'
complete -c tem -n 'not __tem_is_first; and string match -q -- "-*" (commandline -ct)' -f \
    -a '(__tem_options)'
complete -c tem -n '__tem_after_other' -f
complete -c tem -n '__tem_after --metric' -f -a 'euclidean angular l1 linf hyperbolic'
complete -c tem -n '__tem_after --mechanism' -f -a '(__tem_mechanisms)'
complete -c tem -n '__tem_after --mechanisms' -f \
    -a 'original equal balanced tuned (__tem_mechanisms)'
complete -c tem -n '__tem_after --space' -f -a 'sphere raw'
complete -c tem -n '__tem_after --oov' -f -a 'uniform drop mask keep-unsafe'
complete -c tem -n '__tem_after --punctuation' -f -a 'drop keep word'
complete -c tem -n '__tem_after --missing' -f -a 'empty keep'
complete -c tem -n '__tem_after --language-model' -a 'none english'
complete -c tem -n '__tem_after --repeat' -f -a 'each once'
complete -c tem -n '__tem_after --style' -f -a 'words joined sentence'
complete -c tem -n '__tem_after --prior' -a 'zipf zipf:'
complete -c tem -n '__tem_after --format' -f -a 'text tsv csv jsonl'
complete -c tem -n '__tem_after --at' -f -a 'guess= self= epsilon='
complete -c tem -n '__tem_after --learners' -f -a 'paper linear posterior deconvolved'
complete -c tem -n '__tem_after --weights' -f -a 'balanced equal tuned'
