var t=["fisher-yates","durstenfeld","inside-out","strike-out","sattolo"],o="sattolo";export{t as a,o as b};
