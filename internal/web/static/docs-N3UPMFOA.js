import"./chunk-BLLRSBKO.js";import"./chunk-WVRLYDGE.js";import"./chunk-SQE76S5B.js";
