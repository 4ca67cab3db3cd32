autoload -Uz bashcompinit && bashcompinit
_riffle() {
    local IFS=$'\n'
    COMPREPLY=($(riffle suggest -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _riffle riffle
