import"./chunk-FYDCY72N.js";import"./chunk-TBGAU2YS.js";import"./chunk-SQE76S5B.js";
