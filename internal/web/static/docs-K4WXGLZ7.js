import"./chunk-P74BAT5H.js";import"./chunk-AMMVSB25.js";import"./chunk-SQE76S5B.js";
