function __riffle_suggest
    riffle suggest -- (commandline -opc)[2..] "$(commandline -ct)" 2>/dev/null
end
complete -c riffle -n 'count (__riffle_suggest) >/dev/null' -f -a '(__riffle_suggest)'
