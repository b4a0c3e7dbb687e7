# bash completion for tem. Commands and options come from tem's own help, so they always match the
# installed program.
_tem() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} words=
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ] || [ "$command" = help ]; then
        words=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n 's/^  \([a-z]*\)  .*/\1/p')
        [ "$command" = help ] || words="$words help --help --version"
    else
        case $previous in
        --metric) words="euclidean angular l1 linf hyperbolic" ;;
        --mechanism) words=$("${COMP_WORDS[0]}" mechanisms 2>/dev/null | sed -n 's/^\([a-z0-9-]*\): .*/\1/p') ;;
        --space) words="sphere raw" ;;
        --oov) words="uniform drop mask keep-unsafe" ;;
        --punctuation) words="drop keep word" ;;
        --missing) words="empty keep" ;;
        --language-model) words="none english $(compgen -f -- "$current")" ;;
        --repeat) words="each once" ;;
        --style) words="words joined sentence" ;;
        --prior) words="zipf zipf: $(compgen -f -- "$current")" ;;
        --format) words="text tsv csv jsonl" ;;
        --mechanisms) words="original equal balanced tuned $("${COMP_WORDS[0]}" mechanisms 2>/dev/null | sed -n 's/^\([a-z0-9-]*\): .*/\1/p')" ;;
        --at) words="guess= self= epsilon=" ;;
        --learners) words="paper linear posterior deconvolved" ;;
        --weights) words="balanced equal tuned" ;;
        --epsilon | --beta | --gamma | --model-hash | --self | --support | --bayes | --quantile | --field | --drop-field | --drop-field-if-present | --delimiter | --by | --budget | --budget-worst | --limit | --neighbours | --dimensions | --remove | --threads | --top | \
            --epsilons | --trials | --only | --epochs | --steps | --minutes | --text | --label | --rating | --stretch | --squash | --exposed | --rest | --unknown | --within | --order | --beam | --sample | --candidates | --ratio | --number | --after | --pairs | --insecure-seed | --seed | --rate | --negatives | --burn-in | --prune | --temper | --lift | --name | --origin | --license) return ;;
        *)
            case $current in
            -*) words=$("${COMP_WORDS[0]}" "$command" --help 2>/dev/null |
                sed -n 's/^  ...  *\(--[a-z-]*\).*/\1/p; s/^  -., \(--[a-z-]*\).*/\1/p') ;;
            esac
            ;;
        esac
    fi
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
    else
        COMPREPLY=($(compgen -f -- "$current"))
    fi
}
complete -o filenames -F _tem tem
