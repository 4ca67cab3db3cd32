import"./chunk-XYITUWO2.js";import"./chunk-RMRVWKF6.js";import"./chunk-SQE76S5B.js";
