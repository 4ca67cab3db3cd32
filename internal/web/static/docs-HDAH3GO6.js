import"./chunk-TSKXHMTN.js";import"./chunk-DJRC2FIM.js";import"./chunk-SQE76S5B.js";
