import"./chunk-XHGX52OC.js";import"./chunk-XH2ADEDD.js";import"./chunk-SQE76S5B.js";
