var e=globalThis.trustedTypes?.createPolicy("riffle-workers",{createScriptURL:t=>t}),r=t=>e?.createScriptURL(t)??t;export{r as a};
